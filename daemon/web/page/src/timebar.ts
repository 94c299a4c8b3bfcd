// Back and forth over the sweeps that the daemon keeps.
import { clock } from './chart';
import { h, put } from './dom';
import type { Store } from './store';

export class TimeBar {
  readonly element: HTMLElement;
  private readonly slider = h('input', { type: 'range', min: 0, max: 0, value: 0, step: 1, 'aria-label': 'Time' });
  private readonly label = h('output', { class: 'time' });
  private readonly live = h('button', { type: 'button', class: 'live', onclick: () => void this.go(null) }, 'Live');
  private wanted: number | null = null;
  private busy = false;

  constructor(private readonly store: Store) {
    this.element = h('footer', { class: 'timebar' },
      h('button', { type: 'button', 'aria-label': 'One sweep back', title: 'One sweep back ([)', onclick: () => this.step(-1) }, '‹'),
      this.slider,
      h('button', { type: 'button', 'aria-label': 'One sweep forward', title: 'One sweep forward (])', onclick: () => this.step(1) }, '›'),
      this.label, this.live);
    this.slider.addEventListener('input', () => {
      const at = Number(this.slider.value);
      void this.go(at >= this.store.times.length - 1 ? null : this.store.times[at]!);
    });
    store.on('time', () => this.show());
  }

  private get place(): number {
    const { past, times } = this.store;
    if (!past) return times.length - 1;
    let best = 0;
    times.forEach((t, i) => { if (Math.abs(t - past.at) < Math.abs(times[best]! - past.at)) best = i; });
    return best;
  }

  step(by: number): void {
    const to = Math.min(Math.max(this.place + by, 0), this.store.times.length - 1);
    void this.go(to === this.store.times.length - 1 ? null : this.store.times[to]!);
  }

  async go(at: number | null): Promise<void> {
    this.wanted = at;
    if (this.busy) return;
    this.busy = true;
    try {
      // While one is on its way only the last one that was asked for counts.
      for (;;) {
        const next = this.wanted;
        await this.store.goTo(next).catch(() => this.store.goTo(null));
        if (next === this.wanted) break;
      }
    } finally {
      this.busy = false;
    }
  }

  private show(): void {
    const { past, live, times } = this.store;
    this.slider.max = String(Math.max(times.length - 1, 0));
    this.slider.value = String(this.place);
    this.element.classList.toggle('past', past !== null);
    const frame = past ?? live;
    const ago = past && live ? ` (${Math.round(live.at - past.at)} s ago)` : '';
    put(this.label, frame ? clock(frame.at) + ago : '');
    this.live.setAttribute('aria-pressed', String(past === null));
  }
}
