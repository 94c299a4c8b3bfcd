// A table that sorts, filters and holds any number of rows, of which only those in sight are in the document.
import { fill, h } from './dom';
import { amend, place } from './router';

export interface Column {
  key: string;
  title: string;
  right?: boolean;
  width?: string;
  /** What the column sorts by; text sorts in natural order. */
  sort(row: number): number | string;
  /** What stands in the cell. */
  cell(row: number): Node | string;
}

export interface TableOptions {
  label: string;
  columns: Column[];
  rows(): number;
  /** What the filter looks through. */
  text(row: number): string;
  /** Where a row leads. */
  href?(row: number): string;
  /** The order at first: a column's key, with a minus in front for the largest first. */
  order: string;
  /** Further controls beside the filter. */
  extra?: Node[];
  keep?(row: number): boolean;
}

const rowHeight = 30;
const natural = new Intl.Collator('en', { numeric: true }).compare;

export class Table {
  readonly element: HTMLElement;
  private readonly filter: HTMLInputElement;
  private readonly count = h('span', { class: 'quiet', role: 'status' });
  private readonly scroller: HTMLElement;
  private readonly head = h('tr');
  private readonly body = h('tbody');
  private shown: number[] = [];
  private key: string;
  private descending: boolean;
  private cursor = 0;

  constructor(private readonly options: TableOptions) {
    const query = place().query;
    const order = query.get('sort') ?? options.order;
    this.descending = order.startsWith('-');
    this.key = order.replace(/^-/, '');
    this.filter = h('input', { type: 'search', placeholder: 'Filter', 'aria-label': 'Filter', value: query.get('q') ?? '' });
    this.filter.addEventListener('input', () => {
      amend({ q: this.filter.value });
      this.scroller.scrollTop = 0;
      this.cursor = 0;
      this.refresh();
    });
    this.scroller = h('div', { class: 'table-scroller', tabindex: 0, role: 'region', 'aria-label': options.label },
      h('table', null, h('thead', null, this.head), this.body));
    this.scroller.addEventListener('scroll', () => this.paint());
    this.scroller.addEventListener('keydown', (event) => this.onKey(event as KeyboardEvent));
    this.element = h('div', { class: 'table' }, h('div', { class: 'toolbar' }, this.filter, ...(options.extra ?? []), this.count), this.scroller);
    this.heads();
    new ResizeObserver(() => this.paint()).observe(this.scroller);
  }

  private heads(): void {
    fill(this.head, this.options.columns.map((column) => {
      const chosen = column.key === this.key;
      const button = h('button', { type: 'button', onclick: () => this.order(column.key) }, column.title, chosen ? (this.descending ? ' ↓' : ' ↑') : '');
      return h('th', { class: column.right ? 'right' : undefined, scope: 'col', 'aria-sort': chosen ? (this.descending ? 'descending' : 'ascending') : undefined }, button);
    }));
  }

  private order(key: string): void {
    const column = this.options.columns.find((c) => c.key === key)!;
    this.descending = key === this.key ? !this.descending : column.right === true;
    this.key = key;
    amend({ sort: (this.descending ? '-' : '') + key });
    this.heads();
    this.refresh();
  }

  /** Filters and sorts again, as figures have changed. */
  refresh(): void {
    const words = this.filter.value.toLowerCase().split(/\s+/).filter(Boolean);
    const { options } = this;
    const found: number[] = [];
    for (let row = 0, n = options.rows(); row < n; ++row) {
      if (options.keep && !options.keep(row)) continue;
      if (words.length > 0) {
        const text = options.text(row).toLowerCase();
        if (!words.every((word) => text.includes(word))) continue;
      }
      found.push(row);
    }
    const column = options.columns.find((c) => c.key === this.key) ?? options.columns[0]!;
    const keys = new Map(found.map((row) => [row, column.sort(row)]));
    const sign = this.descending ? -1 : 1;
    found.sort((x, y) => {
      const [a, b] = [keys.get(x)!, keys.get(y)!];
      const differ = typeof a === 'number' && typeof b === 'number' ? a - b : natural(String(a), String(b));
      return sign * differ || x - y;
    });
    this.shown = found;
    const all = options.rows();
    this.count.textContent = found.length === all ? `${all}` : `${found.length} of ${all}`;
    this.paint();
  }

  private paint(): void {
    const height = this.scroller.clientHeight || 600;
    const from = Math.max(0, Math.floor(this.scroller.scrollTop / rowHeight) - 4);
    const to = Math.min(this.shown.length, from + Math.ceil(height / rowHeight) + 10);
    const spacer = (rows: number): Node => {
      const row = h('tr', { 'aria-hidden': 'true' });
      row.style.height = `${rows * rowHeight}px`;
      return row;
    };
    const rows: Node[] = [spacer(from)];
    for (let i = from; i < to; ++i) {
      const row = this.shown[i]!;
      const to_ = this.options.href?.(row);
      const line = h('tr', { class: i === this.cursor ? 'cursor' : undefined, 'aria-rowindex': i + 1 },
        this.options.columns.map((column, c) => {
          const content = column.cell(row);
          return h('td', { class: column.right ? 'right' : undefined }, c === 0 && to_ ? h('a', { href: to_ }, content) : content);
        }));
      line.addEventListener('click', () => { this.cursor = i; });
      rows.push(line);
    }
    rows.push(spacer(this.shown.length - to));
    fill(this.body, rows);
  }

  private onKey(event: KeyboardEvent): void {
    const page = Math.max(1, Math.floor(this.scroller.clientHeight / rowHeight) - 2);
    const moves: Record<string, number> = { ArrowDown: 1, ArrowUp: -1, PageDown: page, PageUp: -page, Home: -Infinity, End: Infinity };
    const move = moves[event.key];
    if (move !== undefined) {
      event.preventDefault();
      this.cursor = Math.min(Math.max(this.cursor + move, 0), this.shown.length - 1);
      const top = this.cursor * rowHeight;
      const room = this.scroller.clientHeight - 2 * rowHeight;
      if (top < this.scroller.scrollTop) this.scroller.scrollTop = top;
      else if (top > this.scroller.scrollTop + room) this.scroller.scrollTop = top - room;
      this.paint();
    } else if (event.key === 'Enter' && this.options.href && this.shown[this.cursor] !== undefined) {
      location.hash = this.options.href(this.shown[this.cursor]!);
    }
  }
}

/** A ratio in thousandths as a bar with its figure. */
export function bar(thousandths: number, text: string): Node {
  const fillBar = h('span', { class: 'bar-fill' });
  fillBar.style.width = `${Math.min(100, Math.max(0, thousandths / 10))}%`;
  return h('span', { class: 'bar' }, fillBar, h('span', { class: 'bar-text' }, text));
}
