import { fill, h } from '../dom';
import { optional } from '../extras';
import { count, duration, ratio, watts } from '../format';
import { stateLine } from '../regulation';
import { Table } from '../table';
import type { MakeView } from '../view';

interface Change { link: string; turn: string; mode: string; reason: string }
interface Plan { age_seconds: number; off: number; on: number; changes: Change[]; busiest: number; watts_now: number; watts_then: number; watts_least: number; note: string; held: Held[]; idle_switches: Idle[] }
interface Held { rule: string; links: number; watts: number; example: string; busiest: number }
interface Idle { switch: string; links_on: number; base_watts: number | null }
interface Part { saved_share: number }
interface Account {
  links: Part; switches: Part; network: Part;
  year: { saved_kwh: number; saved_money?: number; currency?: string };
  cost: { turned_off: number; turned_on: number; failed: number; waited_seconds: number; longest_wait_seconds: number; always_on: Record<string, number> };
}
interface Regulation { mode: string; stage: string; links: Record<string, number>; power_watts: number; saving_watts: number; spent_joules: number; saved_joules: number; transitions: Record<string, number>; problems: string[]; account?: Account }

const energy = (joules: number): string => (joules < 36000 ? `${count(Math.round(joules))} J` : `${(joules / 3.6e6).toFixed(3)} kWh`);

const tile = (figure: string, what: string): HTMLElement => h('div', { class: 'tile' }, h('div', { class: 'figure' }, figure), h('div', { class: 'quiet' }, what));

/** Shares, a year, and what it cost. */
function accountTiles(account: Account): HTMLElement[] {
  const { year } = account;
  const money = year.saved_money === undefined ? '' : `, ${count(Math.round(year.saved_money))} ${year.currency ?? ''}`;
  return [
    tile(ratio(account.links.saved_share), 'of link power saved'), tile(ratio(account.switches.saved_share), 'of switch power saved'),
    tile(ratio(account.network.saved_share), 'of network power saved'), tile(`${count(Math.round(year.saved_kwh))} kWh${money}`, 'saved in a year at this rate')];
}
function costLine({ cost }: Account): string {
  const waited = cost.turned_on === 0 ? '' : `; ${duration(cost.waited_seconds)} waited for links to come back, ${duration(cost.longest_wait_seconds)} for the slowest`;
  const kept = Object.entries(cost.always_on).map(([why, n]) => ` ${count(n)} always on: ${why}.`).join('');
  return `Since the daemon's start: ${count(cost.turned_off)} turned off, ${count(cost.turned_on)} on, ${count(cost.failed)} failed${waited}.${kept}`;
}

/** Which rules keep links on, and switches that would carry nothing. */
function rest({ held, idle_switches: idle }: Plan): HTMLElement[] {
  const parts: HTMLElement[] = [];
  if (held.length > 0) {
    parts.push(h('p', { class: 'under' }, 'What keeps links on:'), h('ul', { class: 'under' }, held.map((each) =>
      h('li', null, `${count(each.links)} of ${watts(each.watts)}: ${each.rule} (the busiest: ${each.example}, ${ratio(each.busiest)})`))));
  }
  if (idle.length > 0) {
    const base = idle.reduce((sum, each) => sum + (each.base_watts ?? 0), 0);
    parts.push(h('p', { class: 'under' }, `Switches that carry nothing then, and draw ${watts(base)} with all ports off: ${idle.map((each) => each.switch).join(', ')}.`));
  }
  return parts;
}

/** What regulation does or would do, why, and what it saves. */
export const planView: MakeView = (store) => {
  const head = h('div');
  const body = h('div');
  let changes: Change[] = [];
  const table = new Table({
    label: 'Changes', rows: () => changes.length, order: 'link',
    text: (row) => `${changes[row]!.link} ${changes[row]!.turn} ${changes[row]!.reason}`,
    columns: [
      { key: 'link', title: 'Link', sort: (row) => changes[row]!.link, cell: (row) => changes[row]!.link },
      { key: 'turn', title: 'Turn', sort: (row) => changes[row]!.turn, cell: (row) => changes[row]!.turn },
      { key: 'mode', title: 'To', sort: (row) => changes[row]!.mode, cell: (row) => changes[row]!.mode },
      { key: 'reason', title: 'Why', sort: (row) => changes[row]!.reason, cell: (row) => changes[row]!.reason },
    ],
  });
  let known = false;
  const update = async (): Promise<void> => {
    const [regulation, answer] = await Promise.all([optional<Regulation>('/v1/regulation'), optional<{ plan: Plan | null }>('/v1/plan')]);
    if (!regulation) {
      fill(head, h('p', { class: 'quiet' }, 'Not available: this daemon does not regulate links. It does where it is the subnet manager of its fabric, or works beside OpenSM.'));
      return fill(body);
    }
    const plan = answer?.plan ?? null;
    fill(head,
      h('p', { class: 'under' }, `Mode ${regulation.mode}. ${stateLine(regulation.stage)} `, Object.entries(regulation.links).map(([state, n]) => `${count(n)} ${state}`).join(', '), ' links.'),
      regulation.mode !== 'enforce' && h('p', { class: 'under' }, 'Nothing is switched off until an operator says: heddle regulate enforce'),
      h('div', { class: 'tiles' },
        tile(watts(regulation.power_watts), 'power at this moment'), tile(watts(regulation.saving_watts), 'saved at this moment'),
        tile(energy(regulation.spent_joules), 'spent so far'), tile(energy(regulation.saved_joules), 'saved so far'),
        regulation.account && accountTiles(regulation.account)),
      regulation.account && h('p', { class: 'under' }, costLine(regulation.account)),
      regulation.problems.length > 0 && h('ul', { class: 'problem' }, regulation.problems.map((p) => h('li', null, p))),
      h('h2', null, 'Plan'),
      plan
        ? h('p', { class: 'under' }, `Made ${duration(plan.age_seconds)} ago: turn ${count(plan.off)} off, ${count(plan.on)} on; then ${watts(plan.watts_then)} in place of ${watts(plan.watts_now)} (${watts(plan.watts_least)} at the very least), busiest link expected at ${ratio(plan.busiest)}. ${plan.note}`)
        : h('p', { class: 'quiet' }, 'There is none at this moment.'),
      plan && rest(plan));
    changes = plan?.changes ?? [];
    if (changes.length > 0 && !known) fill(body, table.element);
    known = changes.length > 0;
    if (!known) fill(body);
    table.refresh();
  };
  void update();
  let last = performance.now();
  return {
    element: h('section', { class: 'view page' }, h('h1', null, 'Plan and energy'), head, body),
    title: 'Plan',
    onFrame: () => {
      if (performance.now() - last < 900 || store.past) return;
      last = performance.now();
      void update();
    },
  };
};
