import { fill, h } from '../dom';
import { optional } from '../extras';
import { count, duration } from '../format';
import { Table } from '../table';
import type { MakeView } from '../view';

interface End { node: string; port: number | string | null; location?: string }
interface Difference { start: End; end: End; expected: string | null; actual: string | null; line: number | null }
interface Baseline {
  name: string; by: string; since_seconds: number; compared: boolean; trouble?: string;
  planned?: number; as_planned?: number; off_on_purpose?: number; differ?: number;
  missing?: Difference[]; swapped?: Difference[]; unexpected?: Difference[]; wrong_rate?: Difference[];
}
interface Row { kind: string; cable: string; truth: string; line: number | null }

const placed = ({ node, port, location }: End): string => `${node}/${port ?? '?'}${location ? ` (${location})` : ''}`;

/** In the words of `heddle fabric verify`. */
function truth(kind: string, { start, expected, actual }: Difference): string {
  if (kind === 'unexpected') return 'in the fabric, and not in the plan';
  if (kind === 'wrong rate') return `${actual ?? 'unknown'}, planned ${expected ?? 'unknown'}`;
  return actual ? `${placed(start)} leads to ${actual}` : `${placed(start)} has no cable`;
}

function rowsOf(baseline: Baseline): Row[] {
  const kinds: [string, Difference[] | undefined][] = [
    ['missing', baseline.missing], ['swapped', baseline.swapped], ['unexpected', baseline.unexpected], ['wrong rate', baseline.wrong_rate]];
  return kinds.flatMap(([kind, all]) => (all ?? []).map((each) => ({ kind, cable: `${placed(each.start)} -- ${placed(each.end)}`, truth: truth(kind, each), line: each.line })));
}

function summary(baseline: Baseline): string {
  const kept = `Compared with ${baseline.name}, kept ${duration(baseline.since_seconds)} ago by ${baseline.by}`;
  if (!baseline.compared) return `${kept}: not compared yet.`;
  const off = baseline.off_on_purpose ? ` ${count(baseline.off_on_purpose)} links are off on purpose, and taken to be there.` : '';
  return `${kept}: ${count(baseline.as_planned)} of ${count(baseline.planned)} cables as planned, ${count(baseline.differ)} differ.${off}`;
}

/** Whether it is cabled as the baseline says that the daemon keeps. */
export const cablingView: MakeView = (store) => {
  const head = h('div');
  const body = h('div');
  let rows: Row[] = [];
  const table = new Table({
    label: 'Cables that differ', rows: () => rows.length, order: 'kind', text: (row) => `${rows[row]!.kind} ${rows[row]!.cable} ${rows[row]!.truth}`,
    columns: [
      { key: 'kind', title: 'What', sort: (row) => rows[row]!.kind, cell: (row) => rows[row]!.kind },
      { key: 'cable', title: 'Cable', sort: (row) => rows[row]!.cable, cell: (row) => rows[row]!.cable },
      { key: 'truth', title: 'As it is', sort: (row) => rows[row]!.truth, cell: (row) => rows[row]!.truth },
      { key: 'line', title: 'Line', right: true, sort: (row) => rows[row]!.line ?? 0, cell: (row) => (rows[row]!.line === null ? '' : count(rows[row]!.line)) },
    ],
  });
  const update = async (): Promise<void> => {
    const baseline = await optional<Baseline>('/v1/baseline');
    rows = baseline ? rowsOf(baseline) : [];
    if (!baseline) {
      fill(head, h('p', { class: 'quiet' }, 'No baseline is kept. While all is right: heddle fabric baseline save. Or what it is to be: heddle fabric baseline save --plan FILE, a list of cables or a topology file.'));
    } else {
      fill(head, h('p', { class: 'under cabling' }, summary(baseline)), baseline.trouble && h('p', { class: 'problem' }, baseline.trouble));
    }
    if (rows.length === 0) return fill(body);
    if (!body.hasChildNodes()) fill(body, table.element);
    table.refresh();
  };
  void update();
  let last = performance.now();
  return {
    element: h('section', { class: 'view page' }, h('h1', null, 'Cabling'), head, body),
    title: 'Cabling',
    onFrame: () => {
      if (performance.now() - last < 2000 || store.past) return;
      last = performance.now();
      void update();
    },
  };
};
