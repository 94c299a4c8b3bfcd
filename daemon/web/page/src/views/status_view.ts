import { fill, h } from '../dom';
import { bits, count, duration, ratio } from '../format';
import { href } from '../router';
import { ask } from '../store';
import type { MakeView } from '../view';

interface Status {
  version: string; backend: string; source: string; uptime_seconds: number;
  fabric: { switches: number; channel_adapters: number; aggregation_nodes: number; links: number; epoch: number } | null;
  subnet_manager: { role: string; master: string; master_lid: number; stage: string };
  sampling: { sweeps: number; interval_seconds: number; last_sweep_seconds: number; overruns: number; failed_ports?: number };
  load?: { injected_bytes_per_second: number; utilization_mean: number | null; utilization_max: number | null; congestion_max: number | null };
  transactions: Record<string, number>;
  problems: string[];
  drains: Drain[];
  wishes: Wish[]; wish_count: number;
  baseline?: { name: string; by: string; since_seconds: number; compared: boolean; trouble?: string; planned?: number; as_planned?: number; differ?: number };
  notify?: Destination[];
  health?: { ports: number; sure: number; likely: number; isolated_links: number };
}

interface Destination { name: string; what: string; queued: number; sent: number; dropped: number; trouble: string }

interface Wish { link: string; wish: string; by: string; reason: string; ends_in_seconds: number | null }

interface Drain {
  what: string; safe_to_pull: boolean; links: number; on: number; away: string[]; with_hosts: boolean;
  reason: string; by: string; for_seconds: number; ends_in_seconds: number | null;
}

/** As `heddle status` says it. */
function wishLine(wish: Wish): HTMLElement {
  const end = wish.ends_in_seconds === null ? '' : `, ends in ${duration(wish.ends_in_seconds)}`;
  return h('li', { class: 'wish' }, h('b', null, wish.link), `: ${wish.wish}, by ${wish.by}${end}${wish.reason && '; '}${wish.reason}`);
}

/** Whether notices arrive. */
function destinationLine(to: Destination): HTMLElement {
  const stand = to.trouble ? `does not work: ${to.trouble}` : to.sent > 0 ? 'works' : 'nothing has been sent yet';
  const dropped = to.dropped > 0 ? `, ${count(to.dropped)} dropped` : '';
  return h('li', { class: to.trouble ? 'destination problem' : 'destination' }, h('b', null, to.name), ` (${to.what}): ${stand}; ${count(to.sent)} sent, ${count(to.queued)} waiting${dropped}`);
}

function baselineText(kept: Status['baseline']): string {
  if (!kept) return 'none is kept (heddle fabric baseline save)';
  const stand = !kept.compared ? 'not compared yet' : kept.trouble ? kept.trouble
    : `${count(kept.as_planned!)} of ${count(kept.planned!)} cables as planned${kept.differ! > 0 ? `, ${count(kept.differ!)} ${kept.differ === 1 ? 'differs' : 'differ'}` : ''}`;
  return `${kept.name}, kept ${duration(kept.since_seconds)} ago by ${kept.by}; ${stand}`;
}

function healthText(health: Status['health']): string {
  if (!health) return 'the counters have not been read yet';
  const out = health.isolated_links > 0 ? `; bad links out of use: ${count(health.isolated_links)}` : '';
  return `${count(health.sure)} sure and ${count(health.likely)} likely findings at ${count(health.ports)} ports${out}`;
}

/** As `heddle drain` says it. */
function drainLine(drain: Drain): HTMLElement {
  const stand = drain.safe_to_pull ? 'safe to pull' : `NOT safe to pull, ${count(drain.on)} of ${count(drain.links)} links still in use`;
  const end = drain.ends_in_seconds === null ? '' : `, ends in ${duration(drain.ends_in_seconds)}`;
  return h('li', { class: drain.safe_to_pull ? 'drain safe' : 'drain' },
    h('b', null, drain.what), `: ${stand}; drained ${duration(drain.for_seconds)} ago by ${drain.by}${end}${drain.reason && '; '}${drain.reason}`);
}

export const statusView: MakeView = (store) => {
  const body = h('div');
  const update = async (): Promise<void> => {
    const status = await ask<Status>('/v1/status').catch((error: Error) => {
      fill(body, h('p', { class: 'problem' }, error.message));
      return null;
    });
    if (!status) return;
    const rows: [string, string][] = [
      ['Daemon', `heddled ${status.version}, up ${duration(status.uptime_seconds)}`],
      ['Source', `${status.backend}, ${status.source}`],
      ['Fabric', status.fabric ? `${count(status.fabric.switches)} switches, ${count(status.fabric.channel_adapters)} channel adapters, ${count(status.fabric.links)} links (snapshot ${status.fabric.epoch})` : 'being discovered'],
      ['Subnet manager', status.subnet_manager.role === 'master' ? 'this daemon' : status.subnet_manager.role === 'none' ? 'none' : `another one, at ${status.subnet_manager.master || 'LID ' + status.subnet_manager.master_lid}`],
      ['Sampling', `every ${duration(status.sampling.interval_seconds)}; ${count(status.sampling.sweeps)} sweeps, the last one took ${duration(status.sampling.last_sweep_seconds)}; ${count(status.sampling.overruns)} began late`],
      ['No answer from', `${count(status.sampling.failed_ports ?? 0)} ports in the last sweep`],
      ['Load', status.load ? `${bits(status.load.injected_bytes_per_second * 8)} injected; links ${ratio(status.load.utilization_mean)} busy on average, ${ratio(status.load.utilization_max)} at most` : '–'],
      ['MADs', Object.entries(status.transactions).map(([name, n]) => `${count(n)} ${name.replaceAll('_', ' ')}`).join(', ')],
    ];
    fill(body, h('dl', { class: 'wide' }, rows.flatMap(([title, value]) => [h('dt', null, title), h('dd', null, value)]),
      h('dt', null, h('a', { href: href('health') }, 'Health')), h('dd', { class: 'health' }, healthText(status.health)),
      h('dt', null, h('a', { href: href('cabling') }, 'Baseline')), h('dd', { class: 'baseline' }, baselineText(status.baseline))),
      status.notify && [h('h2', null, 'Notices to'), h('ul', null, status.notify.map(destinationLine))],
      status.drains.length > 0 && [h('h2', null, 'Drained'), h('ul', null, status.drains.map(drainLine))],
      status.wishes.length > 0 && [h('h2', null, 'Wishes'), h('ul', null, status.wishes.map(wishLine)),
        status.wish_count > status.wishes.length && h('p', { class: 'quiet' }, `And ${count(status.wish_count - status.wishes.length)} more: heddle links --power`)],
      h('h2', null, 'Problems'), status.problems.length === 0 ? h('p', { class: 'quiet' }, 'None.') : h('ul', null, status.problems.map((p) => h('li', null, p))));
  };
  void update();
  let last = 0;
  return {
    element: h('section', { class: 'view page' }, h('h1', null, 'Status'), body),
    title: 'Status',
    onFrame: () => {
      if (performance.now() - last < 2000 || store.past) return;
      last = performance.now();
      void update();
    },
  };
};
