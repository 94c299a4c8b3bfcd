// The parts of a tree, for what is drawn of a large one from afar: of each pod (what hangs together when the uppermost level is taken
// away) one part for each level, and the uppermost switches by what they are cabled to.
import type { Topology } from './topology';

export interface Part { name: string; level: number; switches: number[] }
export interface Division {
  /** By node: its part, or -1. */
  of: Int32Array;
  parts: Part[];
}

export const byName = new Intl.Collator('en', { numeric: true }).compare;

/** What hangs together. */
export class Pieces {
  private readonly parent: Int32Array;
  constructor(size: number) { this.parent = Int32Array.from({ length: size }, (_, i) => i); }
  find(i: number): number {
    while (this.parent[i] !== i) i = this.parent[i] = this.parent[this.parent[i]!]!;
    return i;
  }
  join(a: number, b: number): void { this.parent[this.find(a)] = this.find(b); }
}

/** The uppermost switches, those with the same neighbours together; all of them together where nearly each has neighbours of its own. */
function uppermost(topology: Topology, switches: number[]): number[][] {
  const alike = new Map<string, number[]>();
  for (const n of switches) {
    const neighbours = new Set<number>();
    for (const l of topology.linksAt(n)) neighbours.add(topology.other(l, n));
    const key = [...neighbours].sort((a, b) => a - b).join(' ');
    alike.set(key, [...(alike.get(key) ?? []), n]);
  }
  return alike.size > Math.max(8, switches.length / 4) ? [switches] : [...alike.values()];
}

/** Null for what has no levels, or no two pods. */
export function divide(topology: Topology): Division | null {
  if (topology.layout.kind !== 'levels') return null;
  const { level } = topology.layout;
  const switches: number[] = [];
  for (let n = 0; n < topology.nodeCount; ++n) if (topology.isSwitch(n)) switches.push(n);
  switches.sort((a, b) => byName(topology.nodes.name[a]!, topology.nodes.name[b]!));
  const top = switches.reduce((most, n) => Math.max(most, level[n]!), 0);
  if (top < 2) return null;
  const pieces = new Pieces(topology.nodeCount);
  for (let l = 0; l < topology.linkCount; ++l) {
    const [a, b] = [topology.links.a[l]!, topology.links.b[l]!];
    if (topology.isSwitch(a) && topology.isSwitch(b) && level[a]! < top && level[b]! < top) pieces.join(a, b);
  }
  const pods = new Map<number, number[]>();
  for (const n of switches) {
    if (level[n]! === top) continue;
    const pod = pods.get(pieces.find(n));
    if (pod) pod.push(n);
    else pods.set(pieces.find(n), [n]);
  }
  if (pods.size < 2) return null;
  const parts: Part[] = [];
  for (const pod of pods.values()) {
    const called = `pod of ${topology.nodes.name[pod[0]!]!}`;
    for (let at = 0; at < top; ++at) {
      const row = pod.filter((n) => level[n] === at);
      if (row.length > 0) parts.push({ name: at === 0 ? called : `${called}, level ${at + 1}`, level: at, switches: row });
    }
  }
  for (const row of uppermost(topology, switches.filter((n) => level[n] === top))) {
    const first = topology.nodes.name[row[0]!]!;
    parts.push({ name: row.length > 1 ? `${first} and ${row.length - 1} more` : first, level: top, switches: row });
  }
  const of = new Int32Array(topology.nodeCount).fill(-1);
  parts.forEach((part, i) => part.switches.forEach((n) => { of[n] = i; }));
  return { of, parts };
}
