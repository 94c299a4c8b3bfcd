import { fill, h } from '../dom';
import { optional } from '../extras';
import type { MakeView } from '../view';

export const planView: MakeView = () => {
  const body = h('div');
  const update = async (): Promise<void> => {
    const plan = await optional<unknown>('/v1/plan');
    fill(body, plan ? h('pre', null, JSON.stringify(plan, null, 2)) : h('p', { class: 'quiet' }, 'Not available: this daemon does not regulate links.'));
  };
  void update();
  return { element: h('section', { class: 'view page' }, h('h1', null, 'Plan'), body), title: 'Plan', onFrame: () => void update() };
};
