// What every view is: an element that follows the store until it is left.
import type { FabricMap } from './map';
import type { Store } from './store';
import type { Place } from './router';

export interface View {
  element: HTMLElement;
  title: string;
  map?: FabricMap;
  /** The figures are those of another sweep. */
  onFrame?(): void;
  /** The fabric is another one. Without it, the view is made anew. */
  onTopology?(): void;
  /** The same view, with another query. False: make it anew. */
  onPlace?(place: Place): boolean;
  leave?(): void;
}
export type MakeView = (store: Store, place: Place) => View;
