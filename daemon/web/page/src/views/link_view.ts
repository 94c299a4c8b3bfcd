import { fill, h } from '../dom';
import type { PowerLink } from '../extras';
import { bits, bytes, count, duration, ratio } from '../format';
import { bitErrors } from '../overlays';
import { ProfileCharts } from '../profile';
import { href } from '../router';
import { ask } from '../store';
import type { MakeView } from '../view';
import { missing } from './missing';

interface Direction { bytes_per_second: number | null; packets_per_second?: number | null; utilization: number | null; congestion: number | null; bytes_total?: number; errors_total?: number }
interface Routes { lids: number; hosts: number; switches: number }
interface End { node: string; guid: string; port: number; type: string; counters?: Record<string, number> }
interface LinkAnswer { name: string; a: End; b: End; width: string; speed: string; gbit_per_second: number; state: string; a_to_b: Direction; b_to_a: Direction; sweep?: number; regulation: PowerLink | null; routes: { a_to_b: Routes | null; b_to_a: Routes | null } }

export const linkView: MakeView = (store, place) => {
  const topology = store.topology!;
  const [guid = '', port = ''] = place.parts;
  const node = topology.node(guid);
  const link = node === undefined ? undefined : topology.linkAt(node, Number(port));
  if (link === undefined) return missing(`There is no link at port ${port} of ${guid}.`);
  const [a, b] = [topology.links.a[link]!, topology.links.b[link]!];
  const figures = h('div', { class: 'figures' });
  const counters = h('div');
  const charts = new ProfileCharts(store, `node=${topology.nodes.guid[a]}&port=${topology.links.a_port[link]}`,
    [`to ${topology.nodes.name[b]}`, `to ${topology.nodes.name[a]}`], topology.gbit(link) || 1);

  const effective = (direction: number): string => bitErrors(store.live?.bits[direction] ?? -1);
  const show = (answer: LinkAnswer): void => {
    const power = answer.regulation;
    const row = (title: string, value: (d: Direction) => string): HTMLElement =>
      h('tr', null, h('th', { scope: 'row' }, title), h('td', { class: 'right' }, value(answer.a_to_b)), h('td', { class: 'right' }, value(answer.b_to_a)));
    const head = h('tr', null, h('td'), h('th', { scope: 'col', class: 'right' }, `to ${answer.b.node}`), h('th', { scope: 'col', class: 'right' }, `to ${answer.a.node}`));
    fill(figures,
      h('table', { class: 'facts', 'data-sweep': answer.sweep }, h('thead', null, head), h('tbody', null,
        row('Utilization', (d) => ratio(d.utilization)),
        row('Waits for credits', (d) => ratio(d.congestion)),
        row('Rate', (d) => bits(d.bytes_per_second === null ? null : d.bytes_per_second * 8)),
        row('Packets', (d) => (d.packets_per_second === null || d.packets_per_second === undefined ? '–' : count(Math.round(d.packets_per_second)) + ' /s')),
        row('Sent so far', (d) => bytes(d.bytes_total)),
        row('Errors so far', (d) => count(d.errors_total)),
        h('tr', null, h('th', { scope: 'row' }, 'Routes to'), h('td', { class: 'right' }, destinations(answer.routes.a_to_b, answer.a)), h('td', { class: 'right' }, destinations(answer.routes.b_to_a, answer.b))))),
      h('dl', null,
        h('dt', null, 'Width and speed'), h('dd', null, `${answer.width} ${answer.speed}, ${answer.gbit_per_second} Gbit/s of data`),
        h('dt', null, 'State'), h('dd', null, answer.state),
        h('dt', null, 'Regulation'), h('dd', { class: power ? undefined : 'quiet' }, power ? regulated(power) : 'not available'),
        h('dt', null, 'Bit errors'), h('dd', { class: 'bit-errors' }, `${effective(2 * link)} to ${answer.b.node}, ${effective(2 * link + 1)} to ${answer.a.node} (effective rate)`),
        h('dt', null, 'Queues'), h('dd', null, 'to look into them writes to the ports: ', h('code', null, `heddle queues ${answer.a.node}/${answer.a.port}`)),
        h('dt', null, 'Without it'), h('dd', null, h('a', { href: href('what-if', [], { without: answer.name }) }, 'what if it failed?'))));
    const names = [...new Set([...Object.keys(answer.a.counters ?? {}), ...Object.keys(answer.b.counters ?? {})])];
    fill(counters, names.length > 0 && h('details', null, h('summary', null, 'Counters of both ports'),
      h('table', { class: 'facts' }, h('thead', null, h('tr', null, h('td'), h('th', { class: 'right' }, `${answer.a.node}/${answer.a.port}`), h('th', { class: 'right' }, `${answer.b.node}/${answer.b.port}`))),
        h('tbody', null, names.map((name) => h('tr', null, h('th', { scope: 'row' }, name.replaceAll('_', ' ')),
          h('td', { class: 'right' }, count(answer.a.counters?.[name])), h('td', { class: 'right' }, count(answer.b.counters?.[name]))))))));
  };
  let open = false;
  const update = async (): Promise<void> => {
    void charts.update();
    try {
      const answer = await ask<LinkAnswer>(`/v1/page/link?name=${topology.nodes.guid[a]}/${topology.links.a_port[link]}`);
      open = counters.querySelector('details')?.open ?? open;
      show(answer);
      const details = counters.querySelector('details');
      if (details) details.open = open;
    } catch (error) {
      fill(figures, h('p', { class: 'problem' }, (error as Error).message));
    }
  };
  void update();
  const sel = topology.linkHref(link).slice(7);
  return {
    element: h('section', { class: 'view page' },
      h('h1', null, h('a', { href: topology.nodeHref(a) }, topology.nodes.name[a]!), `/${topology.links.a_port[link]} — `,
        h('a', { href: topology.nodeHref(b) }, topology.nodes.name[b]!), `/${topology.links.b_port[link]}`),
      h('p', { class: 'under' }, h('a', { href: href('map', [], { sel }) }, 'Show on the map')),
      h('div', { class: 'columns' }, figures, charts.element), counters),
    title: `${topology.portName(link, 'a')} — ${topology.portName(link, 'b')}`,
    onFrame: () => void update(),
    leave: () => charts.dispose(),
  };
};

/** How much of the fabric is reached through the port of this end. */
function destinations(routes: Routes | null, from: End): string {
  if (routes === null) return from.type === 'switch' ? 'not known' : 'all';
  if (routes.lids === 0) return 'nobody';
  const parts = [routes.hosts > 0 && `${count(routes.hosts)} host${routes.hosts > 1 ? 's' : ''}`, routes.switches > 0 && `${count(routes.switches)} switch${routes.switches > 1 ? 'es' : ''}`];
  return parts.filter(Boolean).join(', ') || `${count(routes.lids)} LIDs`;
}

function regulated(power: PowerLink): string {
  const parts = [`${power.state} for ${duration(power.for_seconds)}`, `mode ${power.mode}`];
  if (power.mode !== power.full) parts.push(`of ${power.full}`);
  if (power.wish !== 'auto') parts.push(`operator: ${power.wish}`);
  if (power.exempt !== 'regulated') parts.push(`exempt: ${power.exempt}`);
  parts.push(`${power.transitions} transitions`);
  if (power.reason) parts.push(power.reason);
  return parts.join('; ');
}
