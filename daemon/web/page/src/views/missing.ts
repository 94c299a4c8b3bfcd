import { h } from '../dom';
import type { View } from '../view';

/** For an address that leads to nothing in this fabric. */
export function missing(sentence: string): View {
  return { element: h('section', { class: 'view page' }, h('h1', null, 'Nothing there'), h('p', null, sentence), h('p', null, h('a', { href: '#/map' }, 'To the map'))), title: 'Nothing there' };
}
