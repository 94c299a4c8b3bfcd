// The fabric in the order in which it is drawn: what the map's buffers hold, and what lies under the pointer.
import { draw, type Drawing } from './layout';
import type { Context, Overlay } from './overlays';
import type { Frame } from './store';
import type { Topology } from './topology';

export interface Hit { kind: 'node' | 'link'; index: number }

export class Scene {
  readonly drawing: Drawing;
  /** Links in drawing order, those between switches first. */
  readonly order: Int32Array;
  readonly switchLinks: number;
  readonly segments: Float32Array;
  readonly lateral: Float32Array;
  readonly kind: Float32Array;
  readonly setOf: Int32Array;
  readonly hostCount: Int32Array;

  constructor(readonly topology: Topology, before: Map<string, [number, number]>) {
    this.drawing = draw(topology, before);
    const links = Array.from({ length: topology.linkCount }, (_, l) => l);
    const inner = links.filter((l) => !topology.isHostLink(l));
    this.order = Int32Array.from([...inner, ...links.filter((l) => topology.isHostLink(l))]);
    this.switchLinks = inner.length;
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

  values(overlay: Overlay, frame: Frame, context: Context): { links: Uint8Array; nodes: Uint8Array } {
    const links = new Uint8Array(2 * this.topology.linkCount);
    this.order.forEach((l, slot) => {
      links[2 * slot] = overlay.link(frame, this.topology, 2 * l, context);
      links[2 * slot + 1] = overlay.link(frame, this.topology, 2 * l + 1, context);
    });
    const nodes = new Uint8Array(this.topology.nodeCount);
    for (let n = 0; n < nodes.length; ++n) nodes[n] = overlay.node(frame, this.topology, n, context);
    return { links, nodes };
  }

  /** The nearest node within `reach`, else the nearest link; in the drawing's units. */
  at(x: number, y: number, nodeReach: number, linkReach: number, hosts: boolean): Hit | null {
    const xy = this.drawing.xy;
    let best: Hit | null = null;
    let nearest = nodeReach * nodeReach;
    for (let n = 0; n < this.topology.nodeCount; ++n) {
      if (!hosts && this.kind[n] !== 0) continue;
      const [dx, dy] = [xy[2 * n]! - x, xy[2 * n + 1]! - y];
      const distance = dx * dx + dy * dy;
      if (distance < nearest) {
        nearest = distance;
        best = { kind: 'node', index: n };
      }
    }
    if (best) return best;
    nearest = linkReach;
    const count = 2 * (hosts ? this.topology.linkCount : this.switchLinks);
    for (let s = 0; s < count; ++s) {
      const [px, py, mx, my] = [this.segments[4 * s]!, this.segments[4 * s + 1]!, this.segments[4 * s + 2]!, this.segments[4 * s + 3]!];
      if (x < Math.min(px, mx) - linkReach || x > Math.max(px, mx) + linkReach) continue;
      if (y < Math.min(py, my) - linkReach || y > Math.max(py, my) + linkReach) continue;
      const [dx, dy] = [mx - px, my - py];
      const along = Math.min(1, Math.max(0, ((x - px) * dx + (y - py) * dy) / (dx * dx + dy * dy || 1)));
      const distance = Math.hypot(px + along * dx - x, py + along * dy - y);
      if (distance < nearest) {
        nearest = distance;
        best = { kind: 'link', index: this.order[s >> 1]! };
      }
    }
    return best;
  }
}
