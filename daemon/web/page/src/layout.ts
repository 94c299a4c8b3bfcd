// Where nodes are drawn: levels for trees, a grid for tori and meshes, forces for anything else. The same fabric gives the
// same drawing; where a fabric changes, nodes stay where they were.
import { forceLink, forceManyBody, forceSimulation, forceX, forceY } from 'd3-force';
import { byName, divide, Pieces, type Division } from './parts';
import type { Topology } from './topology';

export interface Drawing {
  /** x and y of each node; a switch's room is 1 wide. */
  xy: Float32Array;
  /** Four numbers for each direction of a link: from its end to where it meets the other direction. */
  segments: Float32Array;
  bounds: { left: number; top: number; right: number; bottom: number };
  /** Headings of parts, as pods. */
  captions: { text: string; x: number; y: number }[];
  division: Division | null;
}

function switchesOf(topology: Topology): number[] {
  const all: number[] = [];
  for (let n = 0; n < topology.nodeCount; ++n) if (topology.isSwitch(n)) all.push(n);
  return all;
}

/** Parts that hang together below each level are drawn side by side, the levels above each other. */
function levels(topology: Topology, level: number[], division: Division | null, xy: Float32Array): Drawing['captions'] {
  const switches = switchesOf(topology);
  const top = switches.reduce((most, n) => Math.max(most, level[n]!), 0);
  // For each level, which part a switch belongs to when everything above is taken away.
  const keys = new Map<number, string[]>(switches.map((n) => [n, []]));
  const partsBelow: Pieces[] = [];
  for (let limit = 0; limit < top; ++limit) {
    const parts = new Pieces(topology.nodeCount);
    for (let l = 0; l < topology.linkCount; ++l) {
      const [a, b] = [topology.links.a[l]!, topology.links.b[l]!];
      if (topology.isSwitch(a) && topology.isSwitch(b) && level[a]! <= limit && level[b]! <= limit) parts.join(a, b);
    }
    partsBelow.push(parts);
  }
  const firstName = partsBelow.map((parts) => {
    const first = new Map<number, string>();
    for (const n of switches) {
      const [part, name] = [parts.find(n), topology.nodes.name[n]!];
      const known = first.get(part);
      if (known === undefined || byName(name, known) < 0) first.set(part, name);
    }
    return first;
  });
  for (const n of switches) {
    for (let limit = top - 1; limit >= level[n]!; --limit) keys.get(n)!.push(firstName[limit]!.get(partsBelow[limit]!.find(n))!);
  }
  const order = (a: number, b: number): number => {
    const [x, y] = [keys.get(a)!, keys.get(b)!];
    for (let i = 0; i < Math.min(x.length, y.length); ++i) {
      const differ = byName(x[i]!, y[i]!);
      if (differ !== 0) return differ;
    }
    return byName(topology.nodes.name[a]!, topology.nodes.name[b]!) || (topology.nodes.guid[a]! < topology.nodes.guid[b]! ? -1 : 1);
  };
  // Room in x goes to the widest level of each part; the others are spread over it.
  const rows: number[][] = Array.from({ length: top + 1 }, () => []);
  for (const n of switches) rows[level[n]!]!.push(n);
  for (const row of rows) row.sort(order);
  // Those with the same neighbours side by side: so they are where the part is that they are drawn as from afar.
  if (division) rows[top]!.sort((a, b) => division.of[a]! - division.of[b]! || order(a, b));
  const captions: Drawing['captions'] = [];
  const outer = top > 0 ? partsBelow[top - 1]! : new Pieces(topology.nodeCount);
  const groups = new Map<number, number[][]>();
  for (let depth = 0; depth < Math.max(top, 1); ++depth) {
    for (const n of rows[depth]!) {
      const part = top > 0 ? outer.find(n) : 0;
      const group = groups.get(part) ?? Array.from({ length: Math.max(top, 1) }, () => [] as number[]);
      groups.set(part, group);
      group[depth]!.push(n);
    }
  }
  let x = 0;
  const gap = groups.size > 1 ? 1.5 : 0;
  const spans: { part: number; left: number; width: number }[] = [];
  for (const [part, group] of groups) {
    const width = Math.max(...group.map((row) => row.length));
    group.forEach((row) => row.forEach((n, i) => { xy[2 * n] = x + ((i + 0.5) * width) / row.length; }));
    spans.push({ part, left: x, width });
    x += width + gap;
  }
  const width = Math.max(x - gap, 1);
  if (top > 0) rows[top]!.forEach((n, i) => { xy[2 * n] = ((i + 0.5) * width) / rows[top]!.length; });
  const rise = Math.max(3, (0.6 * width) / (top + 0.3));
  for (const n of switches) xy[2 * n + 1] = -level[n]! * rise;
  if (spans.length > 1 && spans.length <= 80 && top > 1) {
    for (const span of spans) captions.push({ text: `pod of ${firstName[top - 1]!.get(span.part)!}`, x: span.left + span.width / 2, y: -(top - 1) * rise });
  }
  return captions;
}

function grid(topology: Topology, sizes: number[], place: number[], xy: Float32Array): void {
  const dimensions = sizes.length;
  for (let n = 0; n < topology.nodeCount; ++n) {
    if (!topology.isSwitch(n)) continue;
    const at = (d: number): number => place[n * dimensions + d] ?? 0;
    if (dimensions === 1) {
      const angle = (2 * Math.PI * at(0)) / sizes[0]!;
      const radius = Math.max(1.5, sizes[0]! / 4);
      xy[2 * n] = radius * Math.sin(angle);
      xy[2 * n + 1] = -radius * Math.cos(angle);
      continue;
    }
    // The third dimension goes backwards, further ones are drawn side by side.
    let x = 1.6 * at(0) + (dimensions > 2 ? 0.5 * at(2) : 0);
    let y = 1.6 * at(1) - (dimensions > 2 ? 0.5 * at(2) : 0);
    let stride = 1.6 * sizes[0]! + (dimensions > 2 ? 0.5 * sizes[2]! : 0) + 2;
    for (let d = 3; d < dimensions; ++d) {
      x += at(d) * stride;
      stride *= sizes[d]!;
    }
    xy[2 * n] = x;
    xy[2 * n + 1] = y;
  }
}

function free(topology: Topology, xy: Float32Array): void {
  const switches = switchesOf(topology);
  const nodes = switches.map((n, i) => {
    // A sunflower: near to nothing else, and the same every time.
    const [radius, angle] = [Math.sqrt(i + 0.5), i * 2.399963];
    return { n, x: radius * Math.cos(angle), y: radius * Math.sin(angle) };
  });
  const place = new Map(switches.map((n, i) => [n, i]));
  const seen = new Set<string>();
  const links: { source: number; target: number }[] = [];
  for (let l = 0; l < topology.linkCount; ++l) {
    const [a, b] = [place.get(topology.links.a[l]!), place.get(topology.links.b[l]!)];
    if (a === undefined || b === undefined || a === b || seen.has(`${a} ${b}`)) continue;
    seen.add(`${a} ${b}`);
    links.push({ source: a, target: b });
  }
  const simulation = forceSimulation(nodes)
    .force('charge', forceManyBody().strength(-6).theta(1.1))
    .force('link', forceLink(links).distance(2).strength(0.25))
    .force('x', forceX(0).strength(0.03))
    .force('y', forceY(0).strength(0.05))
    .stop();
  simulation.tick(Math.max(60, Math.min(300, Math.floor(150_000 / Math.max(1, nodes.length)))));
  for (const node of nodes) {
    xy[2 * node.n] = node.x;
    xy[2 * node.n + 1] = node.y;
  }
}

/** Hosts in a block under their switch, or around it where links leave it on all sides. */
function hosts(topology: Topology, xy: Float32Array): void {
  const below = topology.layout.kind === 'levels';
  const at = new Map<number, number[]>();
  for (let n = 0; n < topology.nodeCount; ++n) {
    if (topology.isSwitch(n)) continue;
    let home = -1;
    for (const l of topology.linksAt(n)) {
      const peer = topology.other(l, n);
      if (topology.isSwitch(peer)) { home = peer; break; }
    }
    const list = at.get(home) ?? [];
    at.set(home, list);
    list.push(n);
  }
  let strays = 0;
  for (const [home, list] of at) {
    list.sort((a, b) => byName(topology.nodes.name[a]!, topology.nodes.name[b]!));
    const columns = Math.ceil(Math.sqrt(list.length));
    const step = Math.min(0.2, 0.8 / columns);
    list.forEach((n, i) => {
      if (home < 0) {
        xy[2 * n] = strays++;
        xy[2 * n + 1] = 3;
      } else if (below) {
        xy[2 * n] = xy[2 * home]! + ((i % columns) - (Math.min(columns, list.length) - 1) / 2) * step;
        xy[2 * n + 1] = xy[2 * home + 1]! + 0.45 + Math.floor(i / columns) * step;
      } else {
        const angle = (2 * Math.PI * (i + 0.5)) / list.length + Math.PI / 4;
        xy[2 * n] = xy[2 * home]! + 0.48 * Math.cos(angle);
        xy[2 * n + 1] = xy[2 * home + 1]! + 0.48 * Math.sin(angle);
      }
    });
  }
}

/** Both directions of a link meet halfway; a cable that closes a ring leaves the drawing on both sides. */
function segmentsOf(topology: Topology, xy: Float32Array): Float32Array {
  const segments = new Float32Array(8 * topology.linkCount);
  const layout = topology.layout;
  for (let l = 0; l < topology.linkCount; ++l) {
    const [a, b] = [topology.links.a[l]!, topology.links.b[l]!];
    const [ax, ay, bx, by] = [xy[2 * a]!, xy[2 * a + 1]!, xy[2 * b]!, xy[2 * b + 1]!];
    let [amx, amy, bmx, bmy] = [(ax + bx) / 2, (ay + by) / 2, (ax + bx) / 2, (ay + by) / 2];
    if (layout.kind === 'grid' && layout.sizes.length > 1 && topology.isSwitch(a) && topology.isSwitch(b)) {
      const wide = layout.sizes.some((size, d) => {
        const apart = Math.abs(layout.place[a * layout.sizes.length + d]! - layout.place[b * layout.sizes.length + d]!);
        return size > 2 && apart === size - 1;
      });
      if (wide) {
        const length = Math.hypot(bx - ax, by - ay);
        const [ux, uy] = [(0.75 * (bx - ax)) / length, (0.75 * (by - ay)) / length];
        [amx, amy, bmx, bmy] = [ax - ux, ay - uy, bx + ux, by + uy];
      }
    }
    if (a === b) [amx, amy, bmx, bmy] = [ax + 0.3, ay - 0.3, ax + 0.3, ay - 0.3];
    segments.set([ax, ay, amx, amy, bx, by, bmx, bmy], 8 * l);
  }
  return segments;
}

/** `before` are positions by GUID, which known nodes keep as long as most of the fabric is the one that was drawn. */
export function draw(topology: Topology, before: Map<string, [number, number]>): Drawing {
  const xy = new Float32Array(2 * topology.nodeCount);
  let captions: Drawing['captions'] = [];
  const division = divide(topology);
  const known = topology.nodes.guid.filter((guid) => before.has(guid)).length;
  const keep = known > 0.8 * topology.nodeCount;
  if (!(keep && known === topology.nodeCount)) {
    if (topology.layout.kind === 'levels') captions = levels(topology, topology.layout.level, division, xy);
    else if (topology.layout.kind === 'grid') grid(topology, topology.layout.sizes, topology.layout.place, xy);
    else free(topology, xy);
    hosts(topology, xy);
  }
  if (keep) {
    topology.nodes.guid.forEach((guid, n) => {
      const place = before.get(guid);
      if (place) xy.set(place, 2 * n);
    });
  }
  const bounds = { left: Infinity, top: Infinity, right: -Infinity, bottom: -Infinity };
  for (let n = 0; n < topology.nodeCount; ++n) {
    bounds.left = Math.min(bounds.left, xy[2 * n]!);
    bounds.right = Math.max(bounds.right, xy[2 * n]!);
    bounds.top = Math.min(bounds.top, xy[2 * n + 1]!);
    bounds.bottom = Math.max(bounds.bottom, xy[2 * n + 1]!);
  }
  if (topology.nodeCount === 0) Object.assign(bounds, { left: 0, top: 0, right: 1, bottom: 1 });
  before.clear();
  topology.nodes.guid.forEach((guid, n) => before.set(guid, [xy[2 * n]!, xy[2 * n + 1]!]));
  return { xy, segments: segmentsOf(topology, xy), bounds, captions, division };
}
