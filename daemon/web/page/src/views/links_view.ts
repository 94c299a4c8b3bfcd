import { h } from '../dom';
import { percent } from '../format';
import { bitErrors, stateName } from '../overlays';
import { amend } from '../router';
import { Table, bar, type Column } from '../table';
import type { MakeView } from '../view';

export const linksView: MakeView = (store, place) => {
  const topology = store.topology!;
  const figure = (column: 'utilization' | 'congestion', direction: (row: number) => number, key: string, title: string): Column => ({
    key, title, right: true,
    sort: (row) => store.frame?.[column][direction(row)] ?? -1,
    cell: (row) => bar(store.frame?.[column][direction(row)] ?? -1, percent(store.frame?.[column][direction(row)] ?? -1)),
  });
  const bits = (direction: (row: number) => number, key: string, title: string): Column => ({
    key, title, right: true,
    sort: (row) => store.frame?.bits[direction(row)] ?? -1,
    cell: (row) => bitErrors(store.frame?.bits[direction(row)] ?? -1),
  });
  const errors = (row: number): number => (store.frame ? store.frame.errors[2 * row]! + store.frame.errors[2 * row + 1]! : 0);
  const most = (row: number): number => Math.max(store.frame?.utilization[2 * row] ?? -1, store.frame?.utilization[2 * row + 1] ?? -1);
  const name = (row: number): string => `${topology.portName(row, 'a')} — ${topology.portName(row, 'b')}`;
  const kind = h('select', { 'aria-label': 'Kind of links' },
    ['all', 'switch', 'host'].map((k) => h('option', { value: k, selected: place.query.get('kind') === k }, k === 'all' ? 'all links' : `${k} links`)));
  kind.addEventListener('change', () => {
    amend({ kind: kind.value === 'all' ? undefined : kind.value });
    table.refresh();
  });
  const table = new Table({
    label: 'Links',
    rows: () => topology.linkCount,
    text: (row) => `${name(row)} ${topology.nodes.guid[topology.links.a[row]!]} ${topology.nodes.guid[topology.links.b[row]!]} ${topology.rateName(row)}`,
    href: (row) => topology.linkHref(row),
    order: '-most',
    extra: [kind],
    keep: (row) => kind.value === 'all' || topology.isHostLink(row) === (kind.value === 'host'),
    columns: [
      { key: 'name', title: 'Link', sort: name, cell: name },
      { key: 'rate', title: 'Rate', sort: (row) => topology.gbit(row), cell: (row) => topology.rateName(row) },
      { key: 'most', title: 'Busier', right: true, sort: most, cell: (row) => percent(most(row)) },
      figure('utilization', (row) => 2 * row, 'out', 'a → b'),
      figure('utilization', (row) => 2 * row + 1, 'in', 'b → a'),
      figure('congestion', (row) => 2 * row, 'wait_out', 'wait a → b'),
      figure('congestion', (row) => 2 * row + 1, 'wait_in', 'wait b → a'),
      { key: 'errors', title: 'Errors', right: true, sort: errors, cell: (row) => String(errors(row)) },
      bits((row) => 2 * row, 'ber_out', 'BER a → b'),
      bits((row) => 2 * row + 1, 'ber_in', 'BER b → a'),
      { key: 'state', title: 'State', sort: (row) => store.frame?.state[row] ?? 0, cell: (row) => stateName(store.frame?.state[row] ?? 0) },
    ],
  });
  requestAnimationFrame(() => table.refresh());
  return { element: h('section', { class: 'view' }, h('h1', null, 'Links'), table.element), title: 'Links', onFrame: () => table.refresh() };
};
