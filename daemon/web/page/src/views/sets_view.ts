import { h } from '../dom';
import { ProfileCharts } from '../profile';
import { href } from '../router';
import { Table, bar } from '../table';
import { ask } from '../store';
import { ratio } from '../format';
import type { MakeView } from '../view';
import { missing } from './missing';

const text = (value: number): string => (value <= -2000 ? '–' : (value / 10).toFixed(1) + ' %');

export const setsView: MakeView = (store) => {
  const topology = store.topology!;
  const locality = (row: number): number => store.frame?.locality[row] ?? -2000;
  const table = new Table({
    label: 'Sets', rows: () => topology.sets.length, order: 'name',
    text: (row) => topology.sets[row]!.name,
    href: (row) => href('set', [topology.sets[row]!.name]),
    columns: [
      { key: 'name', title: 'Set', sort: (row) => topology.sets[row]!.name, cell: (row) => topology.sets[row]!.name },
      { key: 'hosts', title: 'Host ports', right: true, sort: (row) => topology.sets[row]!.hosts, cell: (row) => String(topology.sets[row]!.hosts) },
      { key: 'switches', title: 'Edge switches', right: true, sort: (row) => topology.sets[row]!.switches.length, cell: (row) => String(topology.sets[row]!.switches.length) },
      { key: 'locality', title: 'Locality', right: true, sort: locality, cell: (row) => bar(locality(row), text(locality(row))) },
    ],
  });
  requestAnimationFrame(() => table.refresh());
  return {
    element: h('section', { class: 'view' }, h('h1', null, 'Sets'),
      h('p', { class: 'under' }, 'Locality is the share of what a set generates and consumes that stays within it. Subtrees and pods are found by themselves; others are named in the configuration.'),
      table.element),
    title: 'Sets',
    onFrame: () => table.refresh(),
  };
};

interface Locality { sets: { set: string; generated: number | null; consumed: number | null; total: number | null }[] }

export const setView: MakeView = (store, place) => {
  const topology = store.topology!;
  const name = place.parts[0] ?? '';
  const set = topology.sets.find((s) => s.name === name);
  if (!set) return missing(`There is no set ${name}.`);
  const charts = new ProfileCharts(store, `set=${encodeURIComponent(name)}`, ['generated', 'consumed'], null);
  const figures = h('dl', { class: 'wide' });
  const update = async (): Promise<void> => {
    void charts.update();
    const all = await ask<Locality>('/v1/locality').catch(() => null);
    const own = all?.sets.find((s) => s.set === name);
    figures.replaceChildren(...([['Of what it generates stays within', own?.generated], ['Of what it consumes came from within', own?.consumed], ['Locality', own?.total]] as const)
      .flatMap(([title, value]) => [h('dt', null, title), h('dd', null, ratio(value))]));
  };
  void update();
  return {
    element: h('section', { class: 'view page' }, h('h1', null, name), h('p', { class: 'under' }, `${set.hosts} host ports`), figures, charts.element,
      h('h2', null, 'Switches at its edge'),
      h('ul', { class: 'names' }, set.switches.slice(0, 400).map((n) => h('li', null, h('a', { href: topology.nodeHref(n) }, topology.nodes.name[n]!))))),
    title: name,
    onFrame: () => void update(),
    leave: () => charts.dispose(),
  };
};
