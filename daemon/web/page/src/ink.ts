// What is written over the drawing: names, headings, and rings around what is marked. Its canvas is seen as part of the picture only.
import type { View } from './gl';
import type { Bundles } from './bundles';
import type { Hit, Scene } from './scene';
import { token } from './theme';
import { h } from './dom';

export interface Marks { hovered: Hit | null; selected: Hit | null }
interface Sizes { ratio: number; switchSize: number; unfoldAt: number; afar: boolean }
type Box = [number, number, number, number];

/** Of the ground behind a name: lines under it are seen, and do not keep anybody from reading it. */
const paper = 0.9;

export class Ink {
  readonly canvas = h('canvas');
  /** Where names stand on it. */
  names: Box[] = [];

  /** The canvas, or null if there is nothing to write. */
  write(scene: Scene, view: View, marks: Marks, { ratio, switchSize, unfoldAt, afar }: Sizes): HTMLCanvasElement | null {
    this.names = [];
    if (!afar && !marks.hovered && !marks.selected && view.scale < 12 * ratio && scene.drawing.captions.length === 0) return null;
    const { topology, drawing, kind } = scene;
    const context = this.canvas.getContext('2d')!;
    const { width, height } = this.canvas;
    const colours = new Map(['--ground', '--text', '--quiet', '--accent'].map((name) => [name, token(name)]));
    const colour = (name: string): string => colours.get(name)!;
    context.clearRect(0, 0, width, height);
    context.textAlign = 'center';
    const x = (at: number): number => at * view.scale + view.x;
    const y = (at: number): number => at * view.scale + view.y;
    const place = (n: number): [number, number] => [x(drawing.xy[2 * n]!), y(drawing.xy[2 * n + 1]!)];
    const taken = this.names;
    const free = (box: Box): boolean => !taken.some((t) => box[0] < t[2] && box[2] > t[0] && box[1] < t[3] && box[3] > t[1]);
    const stand = (words: string, box: Box, name: string, upright = false): void => {
      taken.push(box);
      const [width, height] = [box[2] - box[0], box[3] - box[1]];
      context.save();
      context.globalAlpha = paper;
      context.fillStyle = colour('--ground');
      context.fillRect(box[0], box[1], width, height);
      context.globalAlpha = 1;
      context.fillStyle = colour(name);
      context.translate((box[0] + box[2]) / 2, (box[1] + box[3]) / 2);
      if (upright) context.rotate(-Math.PI / 2);
      context.fillText(words, 0, 4 * ratio);
      context.restore();
    };
    const label = (words: string, atX: number, atY: number, name: string, always = false): void => {
      const half = context.measureText(words).width / 2 + 3 * ratio;
      const box: Box = [atX - half, atY - 11 * ratio, atX + half, atY + 3 * ratio];
      if (always || free(box)) stand(words, box, name);
    };
    /** Names of a row of parts, from its line on in one direction: side by side, or upright where that is too wide. */
    const row = (bundles: Bundles, parts: number[], down: boolean): void => {
      if (parts.length === 0) return;
      const widths = parts.map((p) => context.measureText(bundles.parts[p]!.name).width + 6 * ratio);
      const places = parts.map((p) => x(bundles.xy[2 * p]!));
      const upright = places.some((at, i) => i > 0 && Math.abs(at - places[i - 1]!) < (widths[i]! + widths[i - 1]!) / 2);
      const thick = 14 * ratio;
      parts.forEach((p, i) => {
        const [across, along] = upright ? [thick, widths[i]!] : [widths[i]!, thick];
        const near = y(bundles.xy[2 * p + 1]!) + (down ? 1 : -1) * (switchSize / 2 + 4 * ratio);
        const box: Box = [places[i]! - across / 2, down ? near : near - along, places[i]! + across / 2, down ? near + along : near];
        if (free(box)) stand(bundles.parts[p]!.name, box, '--text', upright);
      });
    };

    for (const [hit, strong] of [[marks.hovered, false], [marks.selected, true]] as const) {
      if (!hit) continue;
      context.strokeStyle = colour(strong ? '--accent' : '--text');
      context.lineWidth = (strong ? 2.5 : 1.5) * ratio;
      context.beginPath();
      if (hit.kind === 'part') {
        context.arc(x(scene.bundles!.xy[2 * hit.index]!), y(scene.bundles!.xy[2 * hit.index + 1]!), switchSize * 0.75 + 3 * ratio, 0, 2 * Math.PI);
      } else if (hit.kind === 'node') {
        context.arc(...place(hit.index), (kind[hit.index] === 0 ? switchSize * 0.75 : 8 * ratio) + 3 * ratio, 0, 2 * Math.PI);
      } else {
        const s = (hit.kind === 'band' ? scene.bundles! : drawing).segments.subarray(8 * hit.index, 8 * hit.index + 8);
        for (const at of [0, 4]) {
          context.moveTo(x(s[at]!), y(s[at + 1]!));
          context.lineTo(x(s[at + 2]!), y(s[at + 3]!));
        }
      }
      context.stroke();
    }
    context.font = `600 ${12 * ratio}px system-ui, sans-serif`;
    if (afar) {
      const { bundles } = scene;
      context.font = `${11 * ratio}px system-ui, sans-serif`;
      const at = (level: number): number[] => bundles!.parts.flatMap((part, p) => (part.level === level ? [p] : [])).sort((a, b) => bundles!.xy[2 * a]! - bundles!.xy[2 * b]!);
      row(bundles!, at(0), true);
      row(bundles!, at(Math.max(...bundles!.parts.map((part) => part.level))), false);
      return this.canvas;
    }
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
