import { fill, h } from '../dom';
import { bits, count, duration, nothing, ratio, watts } from '../format';
import { href, place } from '../router';
import { ask } from '../store';
import type { MakeView } from '../view';

interface Traffic { wanted_bytes_per_second: number; carried_bytes_per_second: number; largest_share: number; largest_share_of_hosts: number; busiest: { from: string; share: number }[] }
interface State {
  cut_off: string[]; switches_on_one_cable: string[]; hosts_on_one_cable: number; pairs_cut: number; pairs_without_path: number; largest_load: number;
  effective_bisection?: number | null; circles: boolean; watts: number | null; traffic: Traffic | null;
}
interface Answer {
  tables: { made_by: string; read_back: boolean; agreement: number | null; age_seconds?: number; outdated?: boolean };
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
    tables.outdated === true && h('p', { class: 'problem' }, 'The fabric has changed since: what the tables led over cables that are gone counts as lost, and may be mended. Ask again in a minute.'),
    flows.error !== undefined && h('p', { class: 'under' }, `Traffic: estimated from the loads of ${duration(flows.loads_age_seconds)} ago; of ten kinds of traffic the busiest link was predicted within ${ratio(flows.error.median)} in half of all cases, and within ${ratio(flows.error.worst)} in all.`),
    flows.source === 'given' && h('p', { class: 'under' }, 'Traffic: as given.'),
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
    then.switches_on_one_cable.length > 0 && h('p', null, `On one cable: ${named(then.switches_on_one_cable)}; it is the last one of ${count(then.hosts_on_one_cable)} hosts`),
    sends(then) && then.traffic!.busiest.length > 0 && h('p', null, `Busiest then: ${then.traffic!.busiest[0]!.from}`),
    lose.length > 0 && h('ul', null, lose.slice(0, mostNamed).map((each) => h('li', null, `${each.host} loses: ${bits(each.bytes_per_second_then * 8)} in place of ${bits(each.bytes_per_second_now * 8)}`))),
  ];
}

const kinds: [string, string][] = [['change', 'this changes'], ['each=switch', 'each switch fails by itself'], ['each=link', 'each link fails by itself'], ['regulate=trunk', 'the trunk policy chooses links'], ['regulate=general', 'the general policy chooses links']];

type Key = 'without' | 'engine' | 'roots' | 'lmc' | 'jobs' | 'qos' | 'flows';
interface Field { key: Key; title: string; input: HTMLSelectElement | HTMLTextAreaElement; file?: true }

const area = (rows: number, placeholder: string): HTMLTextAreaElement => h('textarea', { rows, placeholder, spellcheck: 'false' });
const choice = (options: [string, string][]): HTMLSelectElement => h('select', null, options.map(([value, title]) => h('option', { value }, title)));

const makeFields = (): Field[] => [
  { key: 'without', title: 'Taken out', input: area(3, 'Switches, hosts and links, one a line: spine-1, leaf-0/5') },
  { key: 'engine', title: 'Routed by', input: choice([['', 'whoever routes it'], ['updn', 'updn'], ['ftree', 'ftree'], ['dor', 'dor'], ['minhop', 'minhop']]) },
  { key: 'roots', title: 'Roots', input: area(2, 'Switches, one a line: of updn or ftree') },
  { key: 'lmc', title: 'LIDs of a host', input: choice([['', 'as many as it has'], ...Array.from({ length: 8 }, (_, lmc): [string, string] => [`${lmc}`, `${1 << lmc}`])]) },
  { key: 'jobs', title: 'Jobs that come', input: area(2, 'HOSTS:PATTERN:LOAD, one a line: node[1-8]:all-to-all:0.5') },
  { key: 'qos', title: 'QoS plan of all ports', input: area(2, 'as for heddle qos push'), file: true },
  { key: 'flows', title: 'Traffic', input: area(4, 'A scenario, as for --flows; else estimated from the loads of this moment'), file: true },
];

/** What each kind of question takes. */
const takes = (kind: string): Key[] => {
  if (kind === 'change') return ['without', 'engine', 'roots', 'lmc', 'jobs', 'qos', 'flows'];
  return kind.startsWith('each') ? ['flows'] : ['jobs', 'qos', 'flows'];
};
/** What stands behind the first button. */
const further: Key[] = ['engine', 'roots', 'lmc', 'jobs', 'qos', 'flows'];
/** A daemon reads no longer request (head_bytes of its HTTP server). */
const longest = 14000;

/** A plan without the spaces that make it readable: it goes into a URL. */
function dense(text: string): string {
  try {
    return JSON.stringify(JSON.parse(text));
  } catch {
    return text;
  }
}

function value({ key, input }: Field): string {
  const text = input.value.trim();
  if (key === 'qos') return dense(text);
  return key === 'flows' ? text : text.split('\n').map((line) => line.trim()).filter(Boolean).join('\n');
}

/** Puts a file's text into the field. */
function fromFile({ title, input }: Field): HTMLInputElement {
  const file = h('input', { type: 'file', 'aria-label': `${title}, from a file` });
  file.addEventListener('change', () => { void file.files?.[0]?.text().then((text) => { input.value = text; }); });
  return file;
}

/** A field with its title, and a way to fill it from a file. */
function labelled(field: Field): HTMLElement {
  field.input.setAttribute('aria-label', field.title);
  return h('div', { class: 'field' }, h('span', null, field.title), field.input, field.file && fromFile(field));
}

/** The form, and what it asks for. */
function question(query: URLSearchParams, submit: (parameters: URLSearchParams) => void): HTMLElement {
  const fields = makeFields();
  const labels = new Map(fields.map((field) => [field.key, labelled(field)]));
  const kind = h('select', { 'aria-label': 'What happens' }, kinds.map(([of, title]) => h('option', { value: of }, title)));
  const chosen = ['each', 'regulate'].find((key) => query.has(key));
  kind.value = chosen ? `${chosen}=${query.get(chosen)}` : 'change';
  for (const { key, input } of fields) input.value = query.get(key) ?? '';
  const more = h('details', further.some((key) => query.has(key)) ? { open: true } : null, h('summary', null, 'Routing, jobs, traffic'), further.map((key) => labels.get(key)!));
  const hint = (): void => { for (const [key, label] of labels) label.hidden = !takes(kind.value).includes(key); };
  kind.addEventListener('change', hint);
  hint();
  const gather = (event: Event): void => {
    event.preventDefault();
    const parameters = new URLSearchParams(kind.value === 'change' ? '' : kind.value);
    for (const field of fields) if (takes(kind.value).includes(field.key) && value(field)) parameters.set(field.key, value(field));
    submit(parameters);
  };
  return h('form', { class: 'what-if-form', onsubmit: gather }, h('label', { class: 'kind' }, 'What if ', kind, '?'), labels.get('without'), more, h('button', { type: 'submit' }, 'Reckon'));
}

const known = ['without', 'engine', 'roots', 'lmc', 'jobs', 'qos', 'flows', 'each', 'regulate'];

/** What the running fabric would be like, as `heddle what-if` tells it. Changes nothing. */
export const whatIfView: MakeView = (_store, here) => {
  const out = h('div', { 'aria-live': 'polite' });
  let asked = 0;
  const run = async (parameters: URLSearchParams): Promise<void> => {
    const mine = ++asked;
    fill(out, h('p', { class: 'quiet' }, 'Reckoning …'));
    const tooLong = `${parameters}`.length > longest && new Error('This is more than a page can ask for: heddle what-if takes it.');
    const answer = tooLong || await ask<Answer>(`/v1/what-if?${parameters}`).catch((error: Error) => error);
    if (mine !== asked) return;
    fill(out, answer instanceof Error ? h('p', { class: 'problem' }, answer.message) : told(answer));
  };
  const submit = (parameters: URLSearchParams): void => {
    const next = href('what-if', [], Object.fromEntries(parameters));
    if (location.hash === next) void run(parameters);
    else location.hash = next;
  };
  const go = (query: URLSearchParams): void => {
    const parameters = new URLSearchParams();
    for (const key of known) if (query.get(key)) parameters.set(key, query.get(key)!);
    if ([...parameters].length > 0) void run(parameters);
  };
  go(here.query);
  return {
    element: h('section', { class: 'view page' }, h('h1', null, 'What if'),
      h('p', { class: 'under' }, 'A twin of the running fabric: its tables as they are in force, the loads of this moment. Nothing in the fabric is changed.'),
      question(here.query, submit), out),
    title: 'What if',
    onPlace: () => {
      go(place().query);
      return true;
    },
  };
};
