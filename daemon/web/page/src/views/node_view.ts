import { h } from '../dom';
import { percent } from '../format';
import { stateName } from '../overlays';
import { ProfileCharts } from '../profile';
import { href } from '../router';
import { Table, bar } from '../table';
import type { MakeView } from '../view';
import { missing } from './missing';

export const nodeView: MakeView = (store, place) => {
  const topology = store.topology!;
  const guid = place.parts[0] ?? '';
  const node = topology.node(guid);
  if (node === undefined) return missing(`There is no node ${guid}.`);
  const links = [...topology.linksAt(node)];
  const port = (l: number): number => (topology.links.a[l] === node ? topology.links.a_port[l]! : topology.links.b_port[l]!);
  const peer = (l: number): string => topology.portName(l, topology.links.a[l] === node ? 'b' : 'a');
  const out = (l: number): number => topology.leaving(l, node);
  const into = (l: number): number => out(l) ^ 1;
  const value = (column: 'utilization' | 'congestion', d: number): number => store.frame?.[column][d] ?? -1;
  const charts = new ProfileCharts(store, `node=${guid}`, ['leaving', 'coming in'], null);
  const sets = topology.sets.filter((set) => set.switches.includes(node));
  const table = new Table({
    label: 'Ports', rows: () => links.length, order: 'port',
    text: (row) => `${port(links[row]!)} ${peer(links[row]!)} ${topology.rateName(links[row]!)}`,
    href: (row) => topology.linkHref(links[row]!),
    columns: [
      { key: 'port', title: 'Port', sort: (row) => port(links[row]!), cell: (row) => String(port(links[row]!)) },
      { key: 'peer', title: 'Leads to', sort: (row) => peer(links[row]!), cell: (row) => peer(links[row]!) },
      { key: 'rate', title: 'Rate', sort: (row) => topology.gbit(links[row]!), cell: (row) => topology.rateName(links[row]!) },
      { key: 'out', title: 'Out', right: true, sort: (row) => value('utilization', out(links[row]!)), cell: (row) => bar(value('utilization', out(links[row]!)), percent(value('utilization', out(links[row]!)))) },
      { key: 'in', title: 'In', right: true, sort: (row) => value('utilization', into(links[row]!)), cell: (row) => bar(value('utilization', into(links[row]!)), percent(value('utilization', into(links[row]!)))) },
      { key: 'wait', title: 'Wait', right: true, sort: (row) => value('congestion', out(links[row]!)), cell: (row) => bar(value('congestion', out(links[row]!)), percent(value('congestion', out(links[row]!)))) },
      { key: 'errors', title: 'Errors', right: true, sort: (row) => store.frame?.errors[out(links[row]!)] ?? 0, cell: (row) => String(store.frame?.errors[out(links[row]!)] ?? 0) },
      { key: 'state', title: 'State', sort: (row) => store.frame?.state[links[row]!] ?? 0, cell: (row) => stateName(store.frame?.state[links[row]!] ?? 0) },
    ],
  });
  requestAnimationFrame(() => table.refresh());
  const kind = topology.typeName(node);
  return {
    element: h('section', { class: 'view page' },
      h('h1', null, topology.nodes.name[node]!),
      h('p', { class: 'under' }, kind[0]!.toUpperCase() + kind.slice(1), ' · ', h('code', null, guid), ` · LID ${topology.nodes.lid[node]} · ${topology.nodes.ports[node]} ports · `,
        h('a', { href: href('map', [], { sel: guid }) }, 'Show on the map')),
      sets.length > 0 && h('p', { class: 'under' }, 'In ', sets.slice(0, 6).flatMap((set, i) => [i > 0 ? ', ' : '', h('a', { href: href('set', [set.name]) }, set.name)])),
      charts.element, table.element),
    title: topology.nodes.name[node]!,
    onFrame: () => {
      table.refresh();
      void charts.update();
    },
    leave: () => charts.dispose(),
  };
};
