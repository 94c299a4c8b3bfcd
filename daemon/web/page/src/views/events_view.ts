import { fill, h } from '../dom';
import { optional } from '../extras';
import { Table } from '../table';
import type { MakeView } from '../view';

interface Event { id: number; at: string; kind: string; links: number | string[]; text: string }

/** The log of decisions, as it grows. */
export const eventsView: MakeView = () => {
  const events: Event[] = [];
  let last = 0;
  const body = h('div', { class: 'table' });
  const table = new Table({
    label: 'Events', rows: () => events.length, order: '-id',
    text: (row) => `${events[row]!.kind} ${events[row]!.text}`,
    columns: [
      { key: 'id', title: 'Number', sort: (row) => events[row]!.id, cell: (row) => String(events[row]!.id) },
      { key: 'at', title: 'When', sort: (row) => events[row]!.at, cell: (row) => events[row]!.at.replace('T', ' ').replace('Z', '') },
      { key: 'kind', title: 'Kind', sort: (row) => events[row]!.kind, cell: (row) => events[row]!.kind },
      { key: 'text', title: 'What', sort: (row) => events[row]!.text, cell: (row) => events[row]!.text },
    ],
  });
  let shown = false;
  let busy = false;
  const update = async (): Promise<void> => {
    if (busy) return;
    busy = true;
    const answer = await optional<{ last: number; events: Event[] }>(`/v1/events?after=${last}&most=1000`);
    busy = false;
    if (!answer) return fill(body, h('p', { class: 'quiet' }, 'Not available: this daemon keeps no log of decisions, as it does not regulate links.'));
    if (!shown) fill(body, table.element);
    shown = true;
    last = answer.last;
    events.push(...answer.events);
    if (answer.events.length > 0 || events.length === 0) table.refresh();
  };
  void update();
  return { element: h('section', { class: 'view' }, h('h1', null, 'Events'), body), title: 'Events', onFrame: () => void update() };
};
