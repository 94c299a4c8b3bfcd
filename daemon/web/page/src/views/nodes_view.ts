import { h } from '../dom';
import { percent } from '../format';
import { amend } from '../router';
import { Table, bar } from '../table';
import { typeNames } from '../topology';
import type { MakeView } from '../view';

export const nodesView: MakeView = (store, place) => {
  const topology = store.topology!;
  const most = (column: 'utilization' | 'congestion', row: number): number => {
    let largest = -1;
    for (const l of topology.linksAt(row)) largest = Math.max(largest, store.frame?.[column][2 * l] ?? -1, store.frame?.[column][2 * l + 1] ?? -1);
    return largest;
  };
  const errors = (row: number): number => {
    let sum = 0;
    for (const l of topology.linksAt(row)) sum += store.frame?.errors[topology.leaving(l, row)] ?? 0;
    return sum;
  };
  const kind = h('select', { 'aria-label': 'Kind of nodes' },
    h('option', { value: '' }, 'all nodes'),
    Object.entries(typeNames).filter(([letter]) => topology.nodes.type.includes(letter))
      .map(([letter, name]) => h('option', { value: letter, selected: place.query.get('kind') === letter }, `${name} nodes`)));
  kind.addEventListener('change', () => {
    amend({ kind: kind.value });
    table.refresh();
  });
  const table = new Table({
    label: 'Nodes',
    rows: () => topology.nodeCount,
    text: (row) => `${topology.nodes.name[row]} ${topology.nodes.guid[row]} lid ${topology.nodes.lid[row]}`,
    href: (row) => topology.nodeHref(row),
    order: 'name',
    extra: [kind],
    keep: (row) => kind.value === '' || topology.nodes.type[row] === kind.value,
    columns: [
      { key: 'name', title: 'Node', sort: (row) => topology.nodes.name[row]!, cell: (row) => topology.nodes.name[row]! },
      { key: 'kind', title: 'Kind', sort: (row) => topology.typeName(row), cell: (row) => topology.typeName(row) },
      { key: 'guid', title: 'GUID', sort: (row) => topology.nodes.guid[row]!, cell: (row) => h('code', null, topology.nodes.guid[row]!) },
      { key: 'lid', title: 'LID', right: true, sort: (row) => topology.nodes.lid[row]!, cell: (row) => String(topology.nodes.lid[row]) },
      { key: 'links', title: 'Links', right: true, sort: (row) => topology.linksAt(row).length, cell: (row) => String(topology.linksAt(row).length) },
      { key: 'most', title: 'Busiest', right: true, sort: (row) => most('utilization', row), cell: (row) => bar(most('utilization', row), percent(most('utilization', row))) },
      { key: 'wait', title: 'Longest wait', right: true, sort: (row) => most('congestion', row), cell: (row) => bar(most('congestion', row), percent(most('congestion', row))) },
      { key: 'errors', title: 'Errors', right: true, sort: errors, cell: (row) => String(errors(row)) },
    ],
  });
  requestAnimationFrame(() => table.refresh());
  return { element: h('section', { class: 'view' }, h('h1', null, 'Nodes'), table.element), title: 'Nodes', onFrame: () => table.refresh() };
};
