// The fabric in the order in which it is drawn: what the map's buffers hold, and what lies under the pointer.
import { Bundles, linesPerBand } from './bundles';
import type { Geometry } from './gl';
import { draw, type Drawing } from './layout';
import type { Context, Overlay } from './overlays';
import type { Frame } from './store';
import type { Topology } from './topology';

export interface Hit { kind: 'node' | 'link' | 'part' | 'band'; index: number }

/** More links between switches than are drawn one by one from afar, where there are parts to draw in their place. */
export const manyLinks = 4000;

export class Scene {
  readonly drawing: Drawing;
  /** Links in drawing order, those between switches first. */
  readonly order: Int32Array;
  readonly switchLinks: number;
  /** Of links in drawing order. */
  readonly segments: Float32Array;
  readonly lateral: Float32Array;
  /** What is drawn from afar in place of links; null where these are few, or there are no parts. */
  readonly bundles: Bundles | null;
  readonly kind: Float32Array;
  readonly setOf: Int32Array;
  readonly hostCount: Int32Array;

  constructor(readonly topology: Topology, before: Map<string, [number, number]>) {
    this.drawing = draw(topology, before);
    const links = Array.from({ length: topology.linkCount }, (_, l) => l);
    const inner = links.filter((l) => !topology.isHostLink(l));
    this.order = Int32Array.from([...inner, ...links.filter((l) => topology.isHostLink(l))]);
    this.switchLinks = inner.length;
    const { division, xy } = this.drawing;
    this.bundles = division && inner.length > manyLinks ? new Bundles(topology, division, xy) : null;
    this.segments = new Float32Array(8 * topology.linkCount);
    this.lateral = new Float32Array(2 * topology.linkCount);
    // Links of a trunk lie side by side.
    const trunks = new Map<number, number[]>();
    for (const l of links) {
      const [a, b] = [topology.links.a[l]!, topology.links.b[l]!];
      const key = Math.min(a, b) * topology.nodeCount + Math.max(a, b);
      const trunk = trunks.get(key);
      if (trunk) trunk.push(l);
      else trunks.set(key, [l]);
    }
    const offset = new Float32Array(topology.linkCount);
    for (const trunk of trunks.values()) {
      trunk.forEach((l, i) => {
        const straight = topology.links.a[l]! < topology.links.b[l]! ? 1 : -1;
        offset[l] = straight * (i - (trunk.length - 1) / 2);
      });
    }
    this.order.forEach((l, slot) => {
      this.segments.set(this.drawing.segments.subarray(8 * l, 8 * l + 8), 8 * slot);
      this.lateral[2 * slot] = offset[l]!;
      this.lateral[2 * slot + 1] = -offset[l]!;
    });
    const kinds: Record<string, number> = { s: 0, c: 1, a: 2, r: 1 };
    this.kind = Float32Array.from({ length: topology.nodeCount }, (_, n) => kinds[topology.nodes.type[n]!] ?? 1);
    this.hostCount = new Int32Array(topology.nodeCount);
    for (const l of links) {
      const [a, b] = [topology.links.a[l]!, topology.links.b[l]!];
      if (topology.isSwitch(a) && !topology.isSwitch(b)) this.hostCount[a]!++;
      if (topology.isSwitch(b) && !topology.isSwitch(a)) this.hostCount[b]!++;
    }
    this.setOf = new Int32Array(topology.nodeCount).fill(-1);
    const sets = topology.sets.map((set, i) => ({ set, i })).sort((x, y) => y.set.hosts - x.set.hosts || y.i - x.i);
    for (const { set, i } of sets) for (const n of set.switches) this.setOf[n] = i;
    for (let n = 0; n < topology.nodeCount; ++n) {
      if (topology.isSwitch(n)) continue;
      for (const l of topology.linksAt(n)) this.setOf[n] = this.setOf[topology.other(l, n)]!;
    }
  }

  /** What the painter draws: the lines of bands and then the links, the nodes and then the parts. */
  geometry(): Geometry {
    const { drawing, bundles } = this;
    const bands = bundles?.bands.length ?? 0;
    const lines = linesPerBand * bands;
    const segments = new Float32Array(4 * lines + this.segments.length);
    const lateral = new Float32Array(lines + this.lateral.length);
    const broad = new Float32Array(lines + this.lateral.length).fill(1);
    // A crowd of bands is thinner, so that some ground is seen between them.
    const wide = bands > 400 ? 3 : 5;
    for (let band = 0; band < bands; ++band) {
      const ends = bundles!.segments.subarray(8 * band, 8 * band + 8);
      for (const [half, breadth] of [[0, wide], [1, 1.5]] as const) {
        const line = linesPerBand * band + 2 * half;
        segments.set(ends, 4 * line);
        broad.fill(breadth, line, line + 2);
      }
    }
    segments.set(this.segments, 4 * lines);
    lateral.set(this.lateral, lines);
    const parts = bundles?.parts.length ?? 0;
    const at = new Float32Array(drawing.xy.length + 2 * parts);
    at.set(drawing.xy);
    if (bundles) at.set(bundles.xy, drawing.xy.length);
    const kind = new Float32Array(this.kind.length + parts);
    kind.set(this.kind);
    return { segments, lateral, broad, at, kind, bandLines: lines, switchLines: 2 * this.switchLinks, nodes: this.kind.length };
  }

  /** As geometry(). */
  values(overlay: Overlay, frame: Frame, context: Context): { lines: Uint8Array; nodes: Uint8Array } {
    const { bundles, topology } = this;
    const before = linesPerBand * (bundles?.bands.length ?? 0);
    const lines = new Uint8Array(before + 2 * topology.linkCount);
    if (bundles) lines.set(bundles.steps(overlay, frame, context));
    this.order.forEach((l, slot) => {
      lines[before + 2 * slot] = overlay.link(frame, topology, 2 * l, context);
      lines[before + 2 * slot + 1] = overlay.link(frame, topology, 2 * l + 1, context);
    });
    const nodes = new Uint8Array(topology.nodeCount + (bundles?.parts.length ?? 0));
    for (let n = 0; n < topology.nodeCount; ++n) nodes[n] = overlay.node(frame, topology, n, context);
    if (bundles) nodes.set(bundles.partSteps(overlay, nodes), topology.nodeCount);
    return { lines, nodes };
  }

  /** As at(), of what is drawn from afar. */
  atAfar(x: number, y: number, partReach: number, bandReach: number): Hit | null {
    const { xy, segments, parts, bands } = this.bundles!;
    const part = nearestPoint(xy, parts.length, x, y, partReach, () => true);
    if (part !== null) return { kind: 'part', index: part };
    const line = nearestLine(segments, 2 * bands.length, x, y, bandReach);
    return line === null ? null : { kind: 'band', index: line >> 1 };
  }

  /** The nearest node within its reach, else the nearest link; in the drawing's units. */
  at(x: number, y: number, nodeReach: number, linkReach: number, hosts: boolean): Hit | null {
    const node = nearestPoint(this.drawing.xy, this.topology.nodeCount, x, y, nodeReach, (n) => hosts || this.kind[n] === 0);
    if (node !== null) return { kind: 'node', index: node };
    const line = nearestLine(this.segments, 2 * (hosts ? this.topology.linkCount : this.switchLinks), x, y, linkReach);
    return line === null ? null : { kind: 'link', index: this.order[line >> 1]! };
  }
}

function nearestPoint(xy: Float32Array, count: number, x: number, y: number, reach: number, counts: (point: number) => boolean): number | null {
  let best: number | null = null;
  let nearest = reach * reach;
  for (let n = 0; n < count; ++n) {
    if (!counts(n)) continue;
    const [dx, dy] = [xy[2 * n]! - x, xy[2 * n + 1]! - y];
    const distance = dx * dx + dy * dy;
    if (distance < nearest) [nearest, best] = [distance, n];
  }
  return best;
}

function nearestLine(segments: Float32Array, count: number, x: number, y: number, reach: number): number | null {
  let best: number | null = null;
  let nearest = reach;
  for (let s = 0; s < count; ++s) {
    const [px, py, mx, my] = [segments[4 * s]!, segments[4 * s + 1]!, segments[4 * s + 2]!, segments[4 * s + 3]!];
    if (x < Math.min(px, mx) - reach || x > Math.max(px, mx) + reach) continue;
    if (y < Math.min(py, my) - reach || y > Math.max(py, my) + reach) continue;
    const [dx, dy] = [mx - px, my - py];
    const along = Math.min(1, Math.max(0, ((x - px) * dx + (y - py) * dy) / (dx * dx + dy * dy || 1)));
    const distance = Math.hypot(px + along * dx - x, py + along * dy - y);
    if (distance < nearest) [nearest, best] = [distance, s];
  }
  return best;
}
