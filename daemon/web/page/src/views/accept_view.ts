import { fill, h } from '../dom';
import { href, place } from '../router';
import { ask } from '../store';
import type { MakeView } from '../view';

type Verdict = 'passed' | 'failed' | 'not_judged' | 'not_asked';
interface Part { verdict: Verdict; summary: string; details: string[] }
interface Report { accepted: boolean; judged: boolean; parts: Record<string, Part> }

/** Where more of a part stands. */
const views: Record<string, string> = { cables: 'cabling', health: 'health', routes: 'what-if', bandwidth: 'links' };
/** More lines would be no reading. */
const mostLines = 200;

function rows(name: string, { verdict, summary, details }: Part): (HTMLElement | false)[] {
  const lines = details.length > mostLines ? [...details.slice(0, mostLines), `and ${details.length - mostLines} more: heddle accept`] : details;
  return [
    h('tr', { class: verdict }, h('th', { scope: 'row' }, views[name] ? h('a', { href: href(views[name]) }, name) : name),
      h('td', { class: 'verdict' }, verdict.replace('_', ' ')), h('td', null, summary)),
    lines.length > 0 && h('tr', { class: 'details' }, h('td', { colspan: 3 }, h('pre', null, lines.join('\n')))),
  ];
}

function told({ accepted, judged, parts }: Report): HTMLElement[] {
  const sentence = accepted ? 'Accepted.' : judged ? 'Not accepted.' : 'Not accepted: not all of it could be judged.';
  return [
    h('p', { class: accepted ? 'sentence' : 'sentence problem' }, sentence),
    h('table', { class: 'facts accept' }, h('thead', null, h('tr', null, ['Part', 'Verdict', ''].map((title) => h('th', { scope: 'col' }, title)))),
      h('tbody', null, Object.entries(parts).flatMap(([name, part]) => rows(name, part)))),
  ];
}

/** What each host must get where nobody says otherwise, as `heddle accept` has it. */
const usualLeast = '50';

/** Is the fabric right to hand over? As `heddle accept` says it, against the baseline. Changes nothing. */
export const acceptView: MakeView = (_store, here) => {
  const out = h('div', { 'aria-live': 'polite' });
  const least = h('input', { type: 'number', min: 0, max: 100, step: 'any', 'aria-label': 'Least share of each host, in per cent' });
  least.value = here.query.get('least') ?? usualLeast;
  let asked = 0;
  const run = async (share: string): Promise<void> => {
    const mine = ++asked;
    fill(out, h('p', { class: 'quiet' }, 'Judging …'));
    const report = await ask<Report>(`/v1/accept?${new URLSearchParams({ least: share })}`).catch((error: Error) => error);
    if (mine !== asked) return;
    fill(out, report instanceof Error ? h('p', { class: 'problem' }, report.message) : told(report));
  };
  const submit = (event: Event): void => {
    event.preventDefault();
    const next = href('accept', [], { least: least.value || usualLeast });
    if (location.hash === next) void run(least.value || usualLeast);
    else location.hash = next;
  };
  const go = (query: URLSearchParams): void => {
    const share = query.get('least');
    if (share !== null) void run(share);
  };
  go(here.query);
  return {
    element: h('section', { class: 'view page' }, h('h1', null, 'Accept'),
      h('p', { class: 'under' }, 'Is the fabric right to hand over? Its cables against the baseline, its health, the tables in force, and what hosts get by them on a twin. Nothing in the fabric is changed, and no packet is sent.'),
      h('form', { class: 'what-if-form', onsubmit: submit }, h('label', { class: 'kind' }, 'Each host must get ', least, ' % of its share'), h('button', { type: 'submit' }, 'Judge')), out),
    title: 'Accept',
    onPlace: () => {
      go(place().query);
      return true;
    },
  };
};
