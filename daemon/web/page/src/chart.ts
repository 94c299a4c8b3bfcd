// Profiles over time, with uPlot.
import uPlot from 'uplot';
import 'uplot/dist/uPlot.min.css';
import { h } from './dom';
import { onTheme, token } from './theme';

export interface Series { label: string; colour: '--first' | '--second' | '--third'; dash?: number[]; fill?: boolean }

export class Chart {
  readonly element: HTMLElement;
  private plot: uPlot | null = null;
  private data: uPlot.AlignedData = [[]];
  private readonly stops: (() => void)[] = [];

  constructor(private readonly title: string, private readonly series: Series[], private readonly format: (value: number) => string, private readonly least: number) {
    this.element = h('figure', { class: 'chart' }, h('figcaption', null, title));
    const observer = new ResizeObserver(() => {
      if (this.plot) this.plot.setSize(this.size());
      else this.make();
    });
    observer.observe(this.element);
    this.stops.push(() => observer.disconnect(), onTheme(() => this.make()));
  }

  private size(): { width: number; height: number } { return { width: Math.max(200, this.element.clientWidth - 2), height: 190 }; }

  private make(): void {
    this.plot?.destroy();
    const axis = { stroke: token('--quiet'), grid: { stroke: token('--line'), width: 1 }, ticks: { stroke: token('--line'), width: 1 }, font: '11px system-ui, sans-serif' };
    this.plot = new uPlot({
      ...this.size(),
      series: [{ label: 'at', value: (_u, at) => (at === null ? '–' : clock(at)) }, ...this.series.map((s) => ({
        label: s.label, stroke: token(s.colour), width: 1.75, dash: s.dash, points: { show: false },
        fill: s.fill ? `color-mix(in srgb, ${token(s.colour)} 14%, transparent)` : undefined,
        value: (_u: uPlot, value: number | null) => (value === null ? '–' : this.format(value)),
      }))],
      scales: { x: { time: false }, y: { range: (_u, _least, most) => [0, Math.max(this.least, (most ?? 0) * 1.08)] } },
      axes: [{ ...axis, values: (_u, ticks) => ticks.map(clock), space: 70 }, { ...axis, size: 70, values: (_u, ticks) => ticks.map((t) => this.format(t)) }],
      cursor: { y: false, points: { size: 7 } },
    }, this.data, this.element);
    this.plot.root.setAttribute('role', 'img');
    this.plot.root.setAttribute('aria-label', this.title);
  }

  set(at: number[], ...columns: (number | null)[][]): void {
    this.data = [at, ...columns];
    this.plot?.setData(this.data);
  }

  dispose(): void {
    for (const stop of this.stops) stop();
    this.plot?.destroy();
  }
}

/** Seconds of the fabric's clock, as h:mm:ss. */
export function clock(at: number): string {
  const whole = Math.floor(at);
  const two = (n: number): string => String(n).padStart(2, '0');
  return `${Math.floor(whole / 3600) % 24}:${two(Math.floor(whole / 60) % 60)}:${two(whole % 60)}`;
}
