// What is written over the drawing: names, headings, and rings around what is marked. Its canvas is seen as part of the picture only.
import type { View } from './gl';
import type { Hit, Scene } from './scene';
import { token } from './theme';
import { h } from './dom';

export interface Marks { hovered: Hit | null; selected: Hit | null }
interface Sizes { ratio: number; switchSize: number; unfoldAt: number }

export class Ink {
  readonly canvas = h('canvas');

  /** The canvas, or null if there is nothing to write. */
  write(scene: Scene, view: View, marks: Marks, { ratio, switchSize, unfoldAt }: Sizes): HTMLCanvasElement | null {
    if (!marks.hovered && !marks.selected && view.scale < 12 * ratio && scene.drawing.captions.length === 0) return null;
    const { topology, drawing, kind } = scene;
    const context = this.canvas.getContext('2d')!;
    const { width, height } = this.canvas;
    const colours = new Map(['--ground', '--text', '--quiet', '--accent'].map((name) => [name, token(name)]));
    const colour = (name: string): string => colours.get(name)!;
    context.clearRect(0, 0, width, height);
    context.textAlign = 'center';
    context.lineJoin = 'round';
    const x = (at: number): number => at * view.scale + view.x;
    const y = (at: number): number => at * view.scale + view.y;
    const place = (n: number): [number, number] => [x(drawing.xy[2 * n]!), y(drawing.xy[2 * n + 1]!)];
    const taken: [number, number, number, number][] = [];
    const label = (words: string, atX: number, atY: number, name: string, always = false): void => {
      const half = context.measureText(words).width / 2 + 3 * ratio;
      const box: [number, number, number, number] = [atX - half, atY - 11 * ratio, atX + half, atY + 3 * ratio];
      if (!always && taken.some((t) => box[0] < t[2] && box[2] > t[0] && box[1] < t[3] && box[3] > t[1])) return;
      taken.push(box);
      context.strokeStyle = colour('--ground');
      context.lineWidth = 3 * ratio;
      context.strokeText(words, atX, atY);
      context.fillStyle = colour(name);
      context.fillText(words, atX, atY);
    };

    for (const [hit, strong] of [[marks.hovered, false], [marks.selected, true]] as const) {
      if (!hit) continue;
      context.strokeStyle = colour(strong ? '--accent' : '--text');
      context.lineWidth = (strong ? 2.5 : 1.5) * ratio;
      context.beginPath();
      if (hit.kind === 'node') {
        context.arc(...place(hit.index), (kind[hit.index] === 0 ? switchSize * 0.75 : 8 * ratio) + 3 * ratio, 0, 2 * Math.PI);
      } else {
        const s = drawing.segments.subarray(8 * hit.index, 8 * hit.index + 8);
        for (const at of [0, 4]) {
          context.moveTo(x(s[at]!), y(s[at + 1]!));
          context.lineTo(x(s[at + 2]!), y(s[at + 3]!));
        }
      }
      context.stroke();
    }
    context.font = `600 ${12 * ratio}px system-ui, sans-serif`;
    if (view.scale < 12 * ratio) {
      for (const caption of drawing.captions) label(caption.text, x(caption.x), y(caption.y) - switchSize - 6 * ratio, '--quiet');
    }
    context.font = `${11 * ratio}px system-ui, sans-serif`;
    if (marks.selected?.kind === 'node') {
      const [atX, atY] = place(marks.selected.index);
      label(topology.nodes.name[marks.selected.index]!, atX, atY - switchSize / 2 - 9 * ratio, '--accent', true);
    }
    if (view.scale < 12 * ratio) return this.canvas;
    const margin = 40 * ratio;
    const named = (n: number): void => {
      const [atX, atY] = place(n);
      if (atX < -margin || atX > width + margin || atY < -margin || atY > height + margin) return;
      const isHost = kind[n] !== 0;
      label(topology.nodes.name[n]!, atX, atY + (isHost ? 14 * ratio : -switchSize / 2 - 5 * ratio), isHost ? '--quiet' : '--text');
    };
    for (let n = 0; n < topology.nodeCount; ++n) if (kind[n] === 0) named(n);
    if (view.scale >= 3 * unfoldAt * ratio) for (let n = 0; n < topology.nodeCount; ++n) if (kind[n] !== 0) named(n);
    return this.canvas;
  }
}
