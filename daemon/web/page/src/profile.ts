// Profiles as GET /v1/page/profile answers them: kept up to date while they are looked at.
import { Chart } from './chart';
import { h } from './dom';
import { bits, ratio } from './format';
import { ask, type Store } from './store';

interface Profile { ports: number; at: number[]; out: (number | null)[]; in: (number | null)[]; utilization: (number | null)[]; congestion: (number | null)[] }

/** One query per direction for a link, one for a node or a set. `labels` name out and in. */
export class ProfileCharts {
  readonly element: HTMLElement;
  private readonly rate: Chart;
  private readonly share: Chart;
  private asked = -1;
  private busy = false;

  constructor(private readonly store: Store, private readonly query: string, labels: [string, string], private readonly rates: number | null) {
    const gigabits = (value: number): string => bits(value * 1e9);
    this.rate = new Chart(rates === null ? 'Traffic' : 'Utilization', [{ label: labels[0], colour: '--first', fill: true }, { label: labels[1], colour: '--second' }],
      rates === null ? gigabits : ratio, rates === null ? 0.1 : 0.05);
    this.share = new Chart(rates === null ? 'Busiest direction and longest wait' : 'Longest wait for credits',
      rates === null ? [{ label: 'busiest', colour: '--first' }, { label: 'wait', colour: '--third', dash: [5, 4] }] : [{ label: 'wait', colour: '--third' }], ratio, 0.05);
    this.element = h('div', { class: 'charts' }, this.rate.element, this.share.element);
    void this.update();
  }

  async update(): Promise<void> {
    const sweep = this.store.live?.sweep ?? 0;
    if (this.busy || sweep === this.asked) return;
    this.busy = true;
    try {
      const profile = await ask<Profile>(`/v1/page/profile?${this.query}`);
      this.asked = sweep;
      const of = (column: (number | null)[]): (number | null)[] => (this.rates === null ? column : column.map((v) => (v === null ? null : v / this.rates!)));
      this.rate.set(profile.at, of(profile.out), of(profile.in));
      if (this.rates === null) this.share.set(profile.at, profile.utilization, profile.congestion);
      else this.share.set(profile.at, profile.congestion);
    } catch {
      // The fabric is being sampled anew: the next frame asks again.
    } finally {
      this.busy = false;
    }
  }

  dispose(): void {
    this.rate.dispose();
    this.share.dispose();
  }
}
