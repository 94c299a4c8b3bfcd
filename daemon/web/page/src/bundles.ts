// A large tree from afar: its parts, and the links between two parts as one band, as wide as what it tells of all of them and with a
// line within for the one that stands out. Tens of thousands of lines on a thousand pixels tell nobody anything.
import { unknownStep, type Context, type Overlay } from './overlays';
import type { Division, Part } from './parts';
import type { Frame } from './store';
import type { Topology } from './topology';

export interface Band {
  /** Parts, the lower one first. */
  a: number; b: number;
  /** Of each of its links the direction that leaves `a`; the other one is this number ^ 1. */
  away: number[];
}
/** Of the links of a band in one direction: -1 where nobody knows. */
export interface Summary { mean: number; worst: number; at: number }

/** Lines of a band: both directions of the wide one, then of the one within. */
export const linesPerBand = 4;

export function summary(amount: (direction: number) => number, directions: number[]): Summary {
  let [sum, known, worst, at] = [0, 0, -1, -1];
  for (const direction of directions) {
    const value = amount(direction);
    if (value < 0) continue;
    sum += value;
    ++known;
    if (value > worst) [worst, at] = [value, direction];
  }
  return { mean: known > 0 ? sum / known : -1, worst, at };
}

/** Of steps that are kinds: the one that most links have, and the rarest. */
function kinds(steps: number[]): [number, number] {
  const counts = new Map<number, number>();
  for (const step of steps) counts.set(step, (counts.get(step) ?? 0) + 1);
  const sorted = [...counts].sort((x, y) => y[1] - x[1] || x[0] - y[0]);
  return [sorted[0]![0], sorted.at(-1)![0]];
}

export class Bundles {
  readonly parts: Part[];
  readonly bands: Band[] = [];
  /** x and y of each part. */
  readonly xy: Float32Array;
  /** As Drawing.segments, two for each band. */
  readonly segments: Float32Array;

  constructor(private readonly topology: Topology, division: Division, nodes: Float32Array) {
    this.parts = division.parts;
    const known = new Map<number, Band>();
    for (let l = 0; l < topology.linkCount; ++l) {
      const [a, b] = [division.of[topology.links.a[l]!]!, division.of[topology.links.b[l]!]!];
      if (a < 0 || b < 0 || a === b) continue;
      const swapped = this.parts[a]!.level > this.parts[b]!.level || (this.parts[a]!.level === this.parts[b]!.level && a > b);
      const [low, high] = swapped ? [b, a] : [a, b];
      let band = known.get(low * this.parts.length + high);
      if (!band) known.set(low * this.parts.length + high, (band = { a: low, b: high, away: [] }));
      band.away.push(swapped ? 2 * l + 1 : 2 * l);
    }
    this.bands.push(...known.values());
    this.xy = new Float32Array(2 * this.parts.length);
    this.parts.forEach((part, i) => {
      for (const n of part.switches) {
        this.xy[2 * i]! += nodes[2 * n]! / part.switches.length;
        this.xy[2 * i + 1]! += nodes[2 * n + 1]! / part.switches.length;
      }
    });
    this.segments = new Float32Array(8 * this.bands.length);
    this.bands.forEach(({ a, b }, i) => {
      const [ax, ay, bx, by] = [this.xy[2 * a]!, this.xy[2 * a + 1]!, this.xy[2 * b]!, this.xy[2 * b + 1]!];
      const [mx, my] = [(ax + bx) / 2, (ay + by) / 2];
      this.segments.set([ax, ay, mx, my, bx, by, mx, my], 8 * i);
    });
  }

  /** Directions of a band's links: those that leave `a`, or those that come. */
  directions(band: Band, comes: boolean): number[] { return comes ? band.away.map((d) => d ^ 1) : band.away; }

  /** Steps of all lines: linesPerBand for each band. */
  steps(overlay: Overlay, frame: Frame, context: Context): Uint8Array {
    const steps = new Uint8Array(linesPerBand * this.bands.length);
    this.bands.forEach((band, i) => {
      for (const [side, comes] of [[0, false], [1, true]] as const) {
        const directions = this.directions(band, comes);
        let wide = unknownStep;
        let within = unknownStep;
        if (overlay.amount) {
          const { mean, worst } = summary((d) => overlay.amount!.of(frame, d), directions);
          [wide, within] = [overlay.amount.step(mean), overlay.amount.step(worst)];
        } else {
          [wide, within] = kinds(directions.map((d) => overlay.link(frame, this.topology, d, context)));
        }
        steps[linesPerBand * i + side] = wide;
        steps[linesPerBand * i + 2 + side] = within;
      }
    });
    return steps;
  }

  /** Of each part, that of its switch which stands out. */
  partSteps(overlay: Overlay, nodes: Uint8Array): Uint8Array {
    const least = overlay.standsOut === 'least';
    return Uint8Array.from(this.parts, (part) => part.switches.reduce((most, n) => {
      const step = nodes[n]!;
      return step !== unknownStep && (most === unknownStep || (least ? step < most : step > most)) ? step : most;
    }, unknownStep));
  }

  bandName(band: Band): string { return `${this.parts[band.a]!.name} — ${this.parts[band.b]!.name}`; }
}
