// The fabric as GET /v1/page/topology tells it, with what follows from it.

export interface Rate { width: string; speed: string; gbit: number }
export interface SetOfNodes { name: string; hosts: number; switches: number[] }
export type Layout =
  | { kind: 'levels'; level: number[] }
  | { kind: 'grid'; sizes: number[]; place: number[] }
  | { kind: 'free' };

export interface TopologyText {
  shape: string;
  nodes: { name: string[]; guid: string[]; type: string; lid: number[]; ports: number[] };
  links: { a: number[]; a_port: number[]; b: number[]; b_port: number[]; rate: number[] };
  rates: Rate[];
  layout: Layout;
  sets: SetOfNodes[];
}

export const typeNames: Record<string, string> = { s: 'switch', c: 'host', a: 'aggregation', r: 'router' };

export class Topology {
  readonly shape: string;
  readonly nodes: TopologyText['nodes'];
  readonly links: TopologyText['links'];
  readonly rates: Rate[];
  readonly layout: Layout;
  readonly sets: SetOfNodes[];
  readonly nodeCount: number;
  readonly linkCount: number;
  /** Links of node n: linksOf[first[n]] .. linksOf[first[n + 1]]. */
  readonly first: Int32Array;
  readonly linksOf: Int32Array;
  private readonly byGuid = new Map<string, number>();

  constructor(text: TopologyText) {
    ({ shape: this.shape, nodes: this.nodes, links: this.links, rates: this.rates, layout: this.layout, sets: this.sets } = text);
    this.nodeCount = this.nodes.name.length;
    this.linkCount = this.links.a.length;
    this.nodes.guid.forEach((guid, i) => this.byGuid.set(guid, i));
    this.first = new Int32Array(this.nodeCount + 1);
    for (let l = 0; l < this.linkCount; ++l) {
      this.first[this.links.a[l]! + 1]!++;
      if (this.links.b[l] !== this.links.a[l]) this.first[this.links.b[l]! + 1]!++;
    }
    for (let n = 0; n < this.nodeCount; ++n) this.first[n + 1]! += this.first[n]!;
    this.linksOf = new Int32Array(this.first[this.nodeCount]!);
    const next = this.first.slice();
    for (let l = 0; l < this.linkCount; ++l) {
      this.linksOf[next[this.links.a[l]!]!++] = l;
      if (this.links.b[l] !== this.links.a[l]) this.linksOf[next[this.links.b[l]!]!++] = l;
    }
  }

  isSwitch(node: number): boolean { return this.nodes.type[node] === 's'; }
  typeName(node: number): string { return typeNames[this.nodes.type[node]!] ?? 'node'; }
  node(guid: string): number | undefined { return this.byGuid.get(guid); }
  linksAt(node: number): Int32Array { return this.linksOf.subarray(this.first[node]!, this.first[node + 1]!); }
  /** The other node of a link. */
  other(link: number, node: number): number {
    return this.links.a[link] === node ? this.links.b[link]! : this.links.a[link]!;
  }
  /** The number of the direction that leaves this node. */
  leaving(link: number, node: number): number { return this.links.a[link] === node ? 2 * link : 2 * link + 1; }
  linkAt(node: number, port: number): number | undefined {
    for (const l of this.linksAt(node)) {
      if (this.links.a[l] === node && this.links.a_port[l] === port) return l;
      if (this.links.b[l] === node && this.links.b_port[l] === port) return l;
    }
    return undefined;
  }
  portName(link: number, end: 'a' | 'b'): string {
    const node = end === 'a' ? this.links.a[link]! : this.links.b[link]!;
    const port = end === 'a' ? this.links.a_port[link]! : this.links.b_port[link]!;
    return `${this.nodes.name[node]}/${port}`;
  }
  rateName(link: number): string {
    const rate = this.rates[this.links.rate[link]!]!;
    return `${rate.width} ${rate.speed}`;
  }
  gbit(link: number): number { return this.rates[this.links.rate[link]!]!.gbit; }
  linkHref(link: number): string { return `#/link/${this.nodes.guid[this.links.a[link]!]}/${this.links.a_port[link]}`; }
  nodeHref(node: number): string { return `#/node/${this.nodes.guid[node]}`; }
  isHostLink(link: number): boolean { return !this.isSwitch(this.links.a[link]!) || !this.isSwitch(this.links.b[link]!); }
}
