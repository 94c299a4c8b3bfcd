// Finds nodes by name, GUID or LID, and links by their ports.
import { fill, h } from './dom';
import type { Store } from './store';
import { href } from './router';

interface Found { title: string; detail: string; href: string; rank: number }

export function find(store: Store, words: string, most = 12): Found[] {
  const topology = store.topology;
  const text = words.trim().toLowerCase();
  if (!topology || text === '') return [];
  const found: Found[] = [];
  const number = /^(lid\s*)?(\d+)$/.exec(text);
  for (let n = 0; n < topology.nodeCount; ++n) {
    const name = topology.nodes.name[n]!.toLowerCase();
    const guid = topology.nodes.guid[n]!;
    let rank = -1;
    if (name === text) rank = 0;
    else if (number && topology.nodes.lid[n] === Number(number[2])) rank = 1;
    else if (name.startsWith(text)) rank = 2;
    else if (name.includes(text)) rank = 3;
    else if (guid.includes(text.replace(/^0x/, '')) && text.replace(/^0x/, '').length > 2) rank = 4;
    if (rank < 0) continue;
    found.push({ title: topology.nodes.name[n]!, detail: `${topology.typeName(n)}, ${guid}, LID ${topology.nodes.lid[n]}`, href: topology.nodeHref(n), rank });
  }
  const slash = text.lastIndexOf('/');
  if (slash > 0) {
    const [node, port] = [text.slice(0, slash), Number(text.slice(slash + 1))];
    for (let n = 0; n < topology.nodeCount && Number.isInteger(port); ++n) {
      if (topology.nodes.name[n]!.toLowerCase() !== node && topology.nodes.guid[n] !== node) continue;
      const l = topology.linkAt(n, port);
      if (l !== undefined) found.push({ title: `${topology.portName(l, 'a')} — ${topology.portName(l, 'b')}`, detail: 'link', href: topology.linkHref(l), rank: 0 });
    }
  }
  for (const set of topology.sets) {
    if (set.name.toLowerCase().includes(text)) found.push({ title: set.name, detail: `set, ${set.hosts} host ports`, href: href('set', [set.name]), rank: 5 });
  }
  return found.sort((a, b) => a.rank - b.rank).slice(0, most);
}

export class Search {
  readonly element: HTMLElement;
  readonly input = h('input', { type: 'search', placeholder: 'Search name, GUID, LID', 'aria-label': 'Search', role: 'combobox', 'aria-expanded': 'false', 'aria-controls': 'found', autocomplete: 'off' });
  private readonly list = h('ul', { id: 'found', role: 'listbox', hidden: true });
  private found: Found[] = [];
  private at = 0;

  constructor(private readonly store: Store) {
    this.element = h('div', { class: 'search' }, this.input, h('kbd', null, '/'), this.list);
    this.input.addEventListener('input', () => {
      this.at = 0;
      this.show();
    });
    this.input.addEventListener('focus', () => this.show());
    this.input.addEventListener('blur', () => setTimeout(() => this.hide(), 150));
    this.input.addEventListener('keydown', (event) => {
      if (event.key === 'ArrowDown' || event.key === 'ArrowUp') {
        event.preventDefault();
        this.at = (this.at + (event.key === 'ArrowDown' ? 1 : this.found.length - 1)) % Math.max(1, this.found.length);
        this.show();
      } else if (event.key === 'Enter') {
        const chosen = this.found[this.at];
        if (chosen) this.go(chosen);
      } else if (event.key === 'Escape') {
        this.input.value = '';
        this.input.blur();
        this.hide();
      }
    });
  }

  private go(found: Found): void {
    location.hash = found.href;
    this.input.value = '';
    this.input.blur();
    this.hide();
  }
  private hide(): void {
    this.list.hidden = true;
    this.input.setAttribute('aria-expanded', 'false');
  }
  private show(): void {
    this.found = find(this.store, this.input.value);
    this.list.hidden = this.input.value.trim() === '';
    this.input.setAttribute('aria-expanded', String(!this.list.hidden));
    if (this.found.length === 0) return fill(this.list, h('li', { class: 'quiet' }, 'Nothing found.'));
    fill(this.list, this.found.map((item, i) => h('li', { role: 'option', 'aria-selected': String(i === this.at), onmousedown: () => this.go(item) },
      h('span', null, item.title), h('small', { class: 'quiet' }, item.detail))));
  }
}
