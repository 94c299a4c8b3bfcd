import { h } from '../dom';
import type { MakeView } from '../view';

const keys: [string, string][] = [
  ['/', 'search'], ['m  l  n  s  h  c  w  a  j  p  e  t', 'map, links, nodes, sets, health, cabling, what if, accept, jobs, plan, events, status'], ['o', 'next overlay of the map'],
  ['arrows, + − 0', 'move the map, zoom, show all'], ['Enter', 'open what is selected'], ['[  ]', 'one sweep back, forward'], ['.', 'back to live'], ['d', 'dark or light'], ['?', 'this list'],
];

export const helpView: MakeView = () => ({
  element: h('section', { class: 'view page' }, h('h1', null, 'Keys'),
    h('table', { class: 'facts' }, h('tbody', null, keys.map(([key, what]) => h('tr', null, h('th', { scope: 'row' }, h('kbd', null, key)), h('td', null, what))))),
    h('p', { class: 'quiet' }, 'On the map: drag to move, wheel to zoom, click to select, double click to open. Hosts appear under their switches as you zoom in; in a large tree, links appear in place of the bands of links that are drawn from afar.')),
  title: 'Keys',
});
