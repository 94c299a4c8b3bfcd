// The page: heading, view, time bar. The hash of the URL says which view.
import './style.css';
import { fill, h, put } from './dom';
import { bits, ratio } from './format';
import { overlays } from './overlays';
import { href, place } from './router';
import { Search } from './search';
import { Store } from './store';
import { startTheme, toggle } from './theme';
import { TimeBar } from './timebar';
import type { MakeView, View } from './view';
import { acceptView } from './views/accept_view';
import { cablingView } from './views/cabling_view';
import { eventsView } from './views/events_view';
import { healthView } from './views/health_view';
import { helpView } from './views/help_view';
import { jobsView } from './views/jobs_view';
import { linksView } from './views/links_view';
import { linkView } from './views/link_view';
import { mapView } from './views/map_view';
import { missing } from './views/missing';
import { nodesView } from './views/nodes_view';
import { nodeView } from './views/node_view';
import { planView } from './views/plan_view';
import { setsView, setView } from './views/sets_view';
import { statusView } from './views/status_view';
import { whatIfView } from './views/what_if_view';

const views: Record<string, MakeView> = {
  map: mapView, links: linksView, link: linkView, nodes: nodesView, node: nodeView, sets: setsView, set: setView,
  health: healthView, cabling: cablingView, 'what-if': whatIfView, accept: acceptView, jobs: jobsView, plan: planView, events: eventsView, status: statusView, help: helpView,
};
const tabs: [string, string, string][] = [
  ['map', 'Map', 'm'], ['links', 'Links', 'l'], ['nodes', 'Nodes', 'n'], ['sets', 'Sets', 's'], ['health', 'Health', 'h'], ['cabling', 'Cabling', 'c'], ['what-if', 'What if', 'w'], ['accept', 'Accept', 'a'], ['jobs', 'Jobs', 'j'], ['plan', 'Plan', 'p'], ['events', 'Events', 'e'], ['status', 'Status', 't'],
];
/** Views that make sense without a fabric. */
const bare = new Set(['status', 'help']);

startTheme();
const store = new Store();
const search = new Search(store);
const time = new TimeBar(store);
const nav = h('nav', { 'aria-label': 'Views' }, tabs.map(([view, title]) => h('a', { href: href(view), 'data-view': view }, title)));
const total = h('div', { class: 'total' });
const state = h('div', { class: 'state', role: 'status' });
const content = h('main');
document.body.append(
  h('header', { class: 'top' }, h('a', { class: 'brand', href: '#/map' }, h('span', { class: 'mark' }), 'Heddle'), nav, search.element, total, state,
    h('button', { type: 'button', class: 'plain', 'aria-label': 'Dark or light', title: 'Dark or light (d)', onclick: toggle }, '◐')),
  content, time.element);

let view: View | null = null;
let shown = '';

function show(): void {
  const here = place();
  const key = [here.view, ...here.parts].join('/');
  if (view && key === shown && view.onPlace?.(here)) return;
  for (const link of nav.querySelectorAll('a')) {
    if (link.dataset.view === here.view) link.setAttribute('aria-current', 'page');
    else link.removeAttribute('aria-current');
  }
  view?.leave?.();
  view = null;
  shown = key;
  if (!store.topology && !bare.has(here.view)) {
    fill(content, h('section', { class: 'view page waiting' }, h('p', { class: 'quiet' }, store.problem || 'Asking the daemon …')));
    document.title = 'Heddle';
    return;
  }
  try {
    view = (views[here.view] ?? ((): View => missing(`There is no view ${here.view}.`)))(store, here);
  } catch (error) {
    view = { element: h('section', { class: 'view page' }, h('p', { class: 'problem' }, (error as Error).message)), title: 'Problem' };
  }
  fill(content, view.element);
  document.title = `${view.title} · Heddle`;
  view.onFrame?.();
}

store.on('topology', () => {
  if (view?.onTopology) view.onTopology();
  else {
    shown = '';
    show();
  }
});
store.on('frame', () => {
  view?.onFrame?.();
  const sums = store.live?.total;
  put(total, sums ? `${bits(sums.injected * 8)} injected · links ${ratio(sums.utilization_mean)} on average, ${ratio(sums.utilization_max)} at most` : '');
});
store.on('connection', () => {
  const words = { live: 'live', connecting: 'connecting', waiting: 'waiting', lost: 'no answer' }[store.connection];
  state.dataset.state = store.connection;
  put(state, words);
  state.title = store.problem;
  if (!store.topology) {
    shown = '';
    show();
  }
});
addEventListener('hashchange', show);
addEventListener('keydown', (event) => {
  const target = event.target as HTMLElement;
  if (event.ctrlKey || event.metaKey || event.altKey || /^(INPUT|SELECT|TEXTAREA)$/.test(target.tagName)) return;
  const tab = tabs.find(([, , key]) => key === event.key);
  const keys: Record<string, () => void> = {
    '/': () => search.input.focus(), '[': () => time.step(-1), ']': () => time.step(1), '.': () => void time.go(null), d: toggle, '?': () => { location.hash = '#/help'; },
    o: () => {
      const now = place().query.get('overlay') ?? overlays[0]!.key;
      const next = overlays[(overlays.findIndex((o) => o.key === now) + 1) % overlays.length]!;
      location.hash = href('map', [], { overlay: next.key });
    },
  };
  if (tab) location.hash = href(tab[0]);
  else if (keys[event.key]) keys[event.key]!();
  else return;
  event.preventDefault();
});
show();
store.start();
// For tests and the curious: what the page knows.
Object.assign(window, { heddle: { store, view: () => view } });
