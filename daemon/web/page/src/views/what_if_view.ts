import { fill, h } from '../dom';
import { bits, count, duration, nothing, ratio, watts } from '../format';
import { href, place } from '../router';
import { ask } from '../store';
import type { MakeView } from '../view';

interface Traffic { wanted_bytes_per_second: number; carried_bytes_per_second: number; largest_share: number; largest_share_of_hosts: number; busiest: { from: string; share: number }[] }
interface State {
  cut_off: string[]; switches_on_one_cable: string[]; pairs_cut: number; pairs_without_path: number; largest_load: number;
  effective_bisection?: number | null; circles: boolean; watts: number | null; traffic: Traffic | null;
}
interface Answer {
  tables: { made_by: string; read_back: boolean; agreement: number | null; age_seconds?: number };
  flows: { source: string; loads_age_seconds?: number; error?: { median: number; worst: number }; few_flows?: boolean };
  now: State; then?: State; failures?: (State & { without: string })[]; left_out?: number;
  hosts_that_lose?: { host: string; bytes_per_second_now: number; bytes_per_second_then: number }[];
}

/** More hosts are counted only. */
const mostNamed = 8;
const named = (all: string[]): string => all.slice(0, mostNamed).join(', ') + (all.length > mostNamed ? ` and ${all.length - mostNamed} more` : '');
const times = (load: number, now: number): string => (now > 0 ? (load / now).toFixed(2) : nothing);
const sends = (state: State): boolean => (state.traffic?.wanted_bytes_per_second ?? 0) > 0;

/** Whose tables and whose traffic: in the words of `heddle what-if`. */
function basis({ tables, flows }: Answer): (HTMLElement | false)[] {
  const read = tables.read_back ? `read back ${duration(tables.age_seconds)} ago; ${ratio(tables.agreement)} of their entries are as ${tables.made_by} makes them` : `nobody has read them back; as ${tables.made_by} makes them`;
  return [
    h('p', { class: 'under' }, `Tables: ${read}.`),
    flows.error !== undefined && h('p', { class: 'under' }, `Traffic: estimated from the loads of ${duration(flows.loads_age_seconds)} ago; of ten kinds of traffic the busiest link was predicted within ${ratio(flows.error.median)} in half of all cases, and within ${ratio(flows.error.worst)} in all.`),
    flows.few_flows === true && h('p', { class: 'problem' }, 'These loads look like those of few flows: what follows for single links is not known.'),
  ];
}

function compared(now: State, then: State): HTMLElement {
  const rows: [string, string, string][] = [
    ['Hosts cut off', count(now.cut_off.length), count(then.cut_off.length)],
    ['Pairs of hosts cut', count(now.pairs_cut), count(then.pairs_cut)],
    ['Pairs without a path', count(now.pairs_without_path), count(then.pairs_without_path)],
    ['Switches on one cable', count(now.switches_on_one_cable.length), count(then.switches_on_one_cable.length)],
    ['Busiest cable, times now', times(now.largest_load, now.largest_load), times(then.largest_load, now.largest_load)],
  ];
  if (now.effective_bisection !== null) rows.push(['Effective bisection', ratio(now.effective_bisection), ratio(then.effective_bisection)]);
  if (now.circles || then.circles) rows.push(['Circles of routes', now.circles ? 'yes' : 'no', then.circles ? 'yes' : 'no']);
  if (sends(then)) {
    const figure = (title: string, of: (traffic: Traffic) => string): void => { rows.push([title, now.traffic ? of(now.traffic) : nothing, of(then.traffic!)]); };
    figure('Busiest link between switches', (traffic) => ratio(traffic.largest_share));
    figure('Busiest link of a host', (traffic) => ratio(traffic.largest_share_of_hosts));
    figure('Carried', (traffic) => bits(traffic.carried_bytes_per_second * 8));
    figure('Wanted', (traffic) => bits(traffic.wanted_bytes_per_second * 8));
  }
  if (now.watts !== null && then.watts !== null) rows.push(['Switches', watts(now.watts), watts(then.watts)]);
  return h('table', { class: 'facts what-if' }, h('thead', null, h('tr', null, ['', 'Now', 'Then'].map((title) => h('th', { scope: 'col' }, title)))),
    h('tbody', null, rows.map(([what, ...figures]) => h('tr', null, h('th', { scope: 'row' }, what), figures.map((figure) => h('td', { class: 'right' }, figure))))));
}

function failures(answer: Answer): HTMLElement {
  const { now } = answer;
  const columns = ['Without', 'Cut off', 'Pairs cut', 'No path', 'On one cable', 'Busiest', ...(now.traffic ? ['Load'] : [])];
  const cells = (one: State & { without: string }): string[] => [one.without, count(one.cut_off.length), count(one.pairs_cut), count(one.pairs_without_path), count(one.switches_on_one_cable.length), times(one.largest_load, now.largest_load), ...(now.traffic ? [ratio(one.traffic?.largest_share)] : [])];
  return h('div', null,
    h('table', { class: 'facts what-if' }, h('thead', null, h('tr', null, columns.map((title) => h('th', { scope: 'col' }, title)))),
      h('tbody', null, answer.failures!.map((one) => h('tr', null, cells(one).map((cell, i) => h('td', { class: i > 0 && 'right' }, cell)))))),
    (answer.left_out ?? 0) > 0 && h('p', { class: 'quiet' }, `And ${count(answer.left_out)} more, less bad ones: heddle what-if --fail-each`));
}

function told(answer: Answer): (HTMLElement | false)[] {
  const { now, then } = answer;
  if (!then) return [...basis(answer), failures(answer)];
  const lose = answer.hosts_that_lose ?? [];
  return [
    ...basis(answer), compared(now, then),
    then.cut_off.length > 0 && h('p', { class: 'problem' }, `Cut off: ${named(then.cut_off)}`),
    then.switches_on_one_cable.length > 0 && h('p', null, `On one cable: ${named(then.switches_on_one_cable)}`),
    sends(then) && then.traffic!.busiest.length > 0 && h('p', null, `Busiest then: ${then.traffic!.busiest[0]!.from}`),
    lose.length > 0 && h('ul', null, lose.slice(0, mostNamed).map((each) => h('li', null, `${each.host} loses: ${bits(each.bytes_per_second_then * 8)} in place of ${bits(each.bytes_per_second_now * 8)}`))),
  ];
}

const changes: [string, string][] = [['without', 'these are taken out'], ['each=switch', 'each switch fails by itself'], ['each=link', 'each link fails by itself'], ['regulate=trunk', 'the trunk policy chooses links'], ['regulate=general', 'the general policy chooses links']];

/** What the running fabric would be like, as `heddle what-if` tells it. Changes nothing. */
export const whatIfView: MakeView = (_store, here) => {
  const query = here.query;
  const kind = h('select', { 'aria-label': 'What happens' }, changes.map(([value, title]) => h('option', { value }, title)));
  const names = h('textarea', { rows: 3, 'aria-label': 'Switches, hosts and links, one a line', placeholder: 'Switches, hosts and links, one a line: spine-1, leaf-0/5' });
  const out = h('div', { 'aria-live': 'polite' });
  const chosen = ['each', 'regulate'].find((key) => query.has(key));
  kind.value = chosen ? `${chosen}=${query.get(chosen)}` : 'without';
  names.value = query.get('without') ?? '';
  const hint = (): void => { names.hidden = kind.value !== 'without'; };
  kind.addEventListener('change', hint);
  hint();
  let asked = 0;
  const run = async (parameters: URLSearchParams): Promise<void> => {
    const mine = ++asked;
    fill(out, h('p', { class: 'quiet' }, 'Reckoning …'));
    const answer = await ask<Answer>(`/v1/what-if?${parameters}`).catch((error: Error) => error);
    if (mine !== asked) return;
    fill(out, answer instanceof Error ? h('p', { class: 'problem' }, answer.message) : told(answer));
  };
  const submit = (event: Event): void => {
    event.preventDefault();
    const [key, value] = kind.value === 'without' ? ['without', names.value.split('\n').map((name) => name.trim()).filter(Boolean).join('\n')] : kind.value.split('=') as [string, string];
    const parameters = { [key]: value };
    const next = href('what-if', [], parameters);
    if (location.hash === next) void run(new URLSearchParams(parameters));
    else location.hash = next;
  };
  const go = (asked_for: URLSearchParams): void => {
    const parameters = new URLSearchParams();
    for (const key of ['without', 'each', 'regulate']) if (asked_for.get(key)) parameters.set(key, asked_for.get(key)!);
    if ([...parameters].length > 0) void run(parameters);
  };
  go(query);
  return {
    element: h('section', { class: 'view page' }, h('h1', null, 'What if'),
      h('p', { class: 'under' }, 'A twin of the running fabric: its tables as they are in force, the loads of this moment. Nothing in the fabric is changed.'),
      h('form', { class: 'what-if-form', onsubmit: submit }, h('label', null, 'What if ', kind, '?'), names, h('button', { type: 'submit' }, 'Reckon')), out),
    title: 'What if',
    onPlace: () => {
      go(place().query);
      return true;
    },
  };
};
