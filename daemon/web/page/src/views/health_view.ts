import { fill, h } from '../dom';
import { count, duration } from '../format';
import { ask } from '../store';
import { Table } from '../table';
import type { Topology } from '../topology';
import type { MakeView } from '../view';

interface Finding { rule: string; sure: 'sure' | 'likely'; where: string; at: string; blame: string | null; since_seconds: number; what: string; advice: string }
interface Order { link: string; reason: string; for_seconds?: number }
interface Health { well: boolean; ports: number; sure: number; likely: number; findings: Finding[]; isolate: string; isolate_links: Order[]; isolated_links: Order[] }
interface Rates { port: string; raw: number | null; effective: number | null; raw_long: number | null; effective_long: number | null }

/** More would be no reading. */
const most = 200;

/** The view of the link of a port, called NODE/PORT, or of a node. */
function viewOf(topology: Topology, at: string): string | null {
  const whole = topology.nodes.name.indexOf(at);
  if (whole >= 0) return topology.nodeHref(whole);
  const cut = at.lastIndexOf('/');
  const node = topology.nodes.name.indexOf(at.slice(0, cut));
  const link = node < 0 ? undefined : topology.linkAt(node, Number(at.slice(cut + 1)));
  return link === undefined ? null : topology.linkHref(link);
}

const linked = (text: string, href: string | null): Node | string => (href ? h('a', { href }, text) : text);

function article(finding: Finding, href: string | null): HTMLElement {
  return h('article', { class: `finding ${finding.sure}` },
    h('h2', null, linked(finding.where, href)),
    h('p', null, h('b', null, finding.rule), ` (${finding.sure}, for ${duration(finding.since_seconds)}): ${finding.what}`),
    h('p', { class: 'quiet' }, finding.blame ? `Look at ${finding.blame} first: ${finding.advice}` : finding.advice));
}

function orders(title: string, links: Order[]): HTMLElement | false {
  const line = ({ link, reason, for_seconds }: Order): string => `${link}${for_seconds === undefined ? '' : ` (${duration(for_seconds)} more)`}: ${reason}`;
  return links.length > 0 && h('div', null, h('h2', null, title), h('ul', null, links.map((order) => h('li', null, line(order)))));
}

/** Bit error rates of what comes in, the worst first; unknown ones last. */
function bitErrors(rows: () => Rates[]): Table {
  const figure = (key: keyof Omit<Rates, 'port'>, title: string): { key: string; title: string; right: true; sort(row: number): number; cell(row: number): string } => ({
    key, title, right: true,
    sort: (row) => rows()[row]![key] ?? -1,
    cell: (row) => rows()[row]![key]?.toExponential(1) ?? 'unknown',
  });
  return new Table({
    label: 'Bit error rates', rows: () => rows().length, order: '-effective', text: (row) => rows()[row]!.port,
    columns: [
      { key: 'port', title: 'Comes in at', sort: (row) => rows()[row]!.port, cell: (row) => rows()[row]!.port },
      figure('effective', 'Effective'), figure('effective_long', 'Effective, long window'), figure('raw', 'Raw'), figure('raw_long', 'Raw, long window'),
    ],
  });
}

/** What is wrong with links, ports and nodes, and what to do. */
export const healthView: MakeView = (store) => {
  const topology = store.topology!;
  const head = h('div');
  const bits = h('div');
  let rates: Rates[] = [];
  const table = bitErrors(() => rates);
  const update = async (): Promise<void> => {
    const health = await ask<Health>('/v1/health').catch((error: Error) => {
      fill(head, h('p', { class: 'quiet' }, error.message));
      return null;
    });
    if (!health) return;
    const { findings } = health;
    fill(head,
      h('p', { class: 'under' }, health.well ? `Well: ${count(health.ports)} ports, nothing found.` : `${count(health.sure)} sure, ${count(health.likely)} likely, of ${count(health.ports)} ports.`),
      findings.slice(0, most).map((finding) => article(finding, viewOf(topology, finding.at))),
      findings.length > most && h('p', { class: 'quiet' }, `And ${count(findings.length - most)} more: heddle health`),
      orders('Out of use until they are tried again', health.isolated_links),
      orders(health.isolate === 'enforce' ? 'Being taken out' : 'Would be taken out, with health.isolate = "enforce"', health.isolate_links));
    rates = (await ask<{ ports: Rates[] }>('/v1/health/bit-errors').catch(() => ({ ports: [] }))).ports;
    if (rates.length > 0 && !bits.hasChildNodes()) fill(bits, h('h2', null, 'Bit error rates'), table.element);
    if (rates.length > 0) table.refresh();
  };
  void update();
  let last = performance.now();
  return {
    element: h('section', { class: 'view page' }, h('h1', null, 'Health'), head, bits),
    title: 'Health',
    onFrame: () => {
      if (performance.now() - last < 2000 || store.past) return;
      last = performance.now();
      void update();
    },
  };
};
