import { fill, h } from '../dom';
import { optional } from '../extras';
import type { MakeView } from '../view';

export const eventsView: MakeView = () => {
  const body = h('div');
  const update = async (): Promise<void> => {
    const events = await optional<unknown>('/v1/events');
    fill(body, events ? h('pre', null, JSON.stringify(events, null, 2)) : h('p', { class: 'quiet' }, 'Not available: this daemon keeps no events.'));
  };
  void update();
  return { element: h('section', { class: 'view page' }, h('h1', null, 'Events'), body), title: 'Events', onFrame: () => void update() };
};
