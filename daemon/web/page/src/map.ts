// The map: the drawing itself, moved with pointer and keys. What it shows is told by its owner (views/map_view.ts).
import { Painter, type View } from './gl';
import { steps, type Context, type Overlay } from './overlays';
import { rgb } from './scales';
import { Scene, type Hit } from './scene';
import type { Frame } from './store';
import type { Topology } from './topology';
import { isDark, token } from './theme';
import { h } from './dom';

/** Pixels that a switch's room must have before its hosts are drawn. */
const unfoldAt = 46;

export class FabricMap {
  readonly element: HTMLElement;
  private readonly canvas = h('canvas', { class: 'map-gl' });
  private readonly ink = h('canvas', { class: 'map-ink' });
  private readonly painter: Painter;
  scene: Scene | null = null;
  private view: View = { scale: 1, x: 0, y: 0 };
  private fitted: View = { scale: 1, x: 0, y: 0 };
  private selected: Hit | null = null;
  private hovered: Hit | null = null;
  private pending = false;
  private sized = false;
  /** A camera that was set before there was a size. */
  private wanted: [number, number, number] | null = null;
  private readonly places = new Map<string, [number, number]>();
  private readonly observer: ResizeObserver;
  frames = 0;

  constructor(private readonly events: { hover(hit: Hit | null, x: number, y: number): void; select(hit: Hit | null): void; open(hit: Hit): void; moved(): void }) {
    this.element = h('div', { class: 'map-stage', tabindex: 0, role: 'application', 'aria-label': 'Map of the fabric: arrow keys move, plus and minus zoom, 0 shows all' }, this.canvas, this.ink);
    this.painter = new Painter(this.canvas);
    this.observer = new ResizeObserver(() => this.resize());
    this.observer.observe(this.element);
    this.listen();
  }

  dispose(): void { this.observer.disconnect(); }
  private get ratio(): number { return Math.min(devicePixelRatio || 1, 2); }

  setTopology(topology: Topology): void {
    const first = this.scene === null && this.sized;
    this.scene = new Scene(topology, this.places);
    const { segments, lateral, switchLinks, drawing, kind } = this.scene;
    this.painter.geometry(segments, lateral, switchLinks, drawing.xy, kind);
    this.selected = null;
    this.hovered = null;
    if (first) this.fit();
    this.refresh();
  }

  setLooks(overlay: Overlay): void {
    this.painter.looks(steps(overlay, isDark()));
    this.refresh();
  }

  setFrame(frame: Frame, overlay: Overlay, context: Context): void {
    if (!this.scene) return;
    const { links, nodes } = this.scene.values(overlay, frame, context);
    this.painter.values(links, nodes);
    this.refresh();
  }

  select(hit: Hit | null): void {
    this.selected = hit;
    this.refresh();
  }

  /** Whole fabric in view. */
  fit(): void {
    if (!this.scene) return;
    const { left, top, right, bottom } = this.scene.drawing.bounds;
    const [width, height] = [this.canvas.width, this.canvas.height];
    if (!this.sized) return;
    const margin = 45 * this.ratio;
    // The panel of overlays lies over the left.
    const panel = width > 900 * this.ratio ? 250 * this.ratio : 0;
    const scale = Math.min((width - panel - 2 * margin) / Math.max(right - left, 1), (height - 2 * margin) / Math.max(bottom - top, 1));
    this.view = { scale, x: (panel + width) / 2 - (scale * (left + right)) / 2, y: height / 2 - (scale * (top + bottom)) / 2 };
    this.fitted = { ...this.view };
    this.refresh();
  }

  /** Centre of the view and zoom against the whole fabric, as in URLs. */
  get camera(): [number, number, number] {
    const { scale, x, y } = this.view;
    return [(this.canvas.width / 2 - x) / scale, (this.canvas.height / 2 - y) / scale, scale / this.fitted.scale];
  }
  set camera([x, y, zoom]: [number, number, number]) {
    if (!this.sized) {
      this.wanted = [x, y, zoom];
      return;
    }
    const scale = this.fitted.scale * zoom;
    this.view = { scale, x: this.canvas.width / 2 - x * scale, y: this.canvas.height / 2 - y * scale };
    this.refresh();
  }

  /** Brings a node into view, near enough to tell it from its neighbours. */
  show(hit: Hit): void {
    if (!this.scene || !this.sized) {
      requestAnimationFrame(() => this.show(hit));
      return;
    }
    const { topology, drawing, kind } = this.scene;
    const node = hit.kind === 'node' ? hit.index : topology.links.a[hit.index]!;
    const wanted = (kind[node] === 0 ? 14 : unfoldAt * 1.6) * this.ratio;
    const scale = Math.max(this.view.scale, wanted);
    this.view = { scale, x: this.canvas.width / 2 - drawing.xy[2 * node]! * scale, y: this.canvas.height / 2 - drawing.xy[2 * node + 1]! * scale };
    this.refresh();
    this.events.moved();
  }

  /** Where a node is drawn, in pixels of the page from the map's corner. */
  placeOf(node: number): [number, number] {
    const { xy } = this.scene!.drawing;
    return [(xy[2 * node]! * this.view.scale + this.view.x) / this.ratio, (xy[2 * node + 1]! * this.view.scale + this.view.y) / this.ratio];
  }

  private get unfolded(): boolean { return this.view.scale >= unfoldAt * this.ratio; }

  private resize(): void {
    const [width, height] = [Math.round(this.element.clientWidth * this.ratio), Math.round(this.element.clientHeight * this.ratio)];
    if (width === 0 || height === 0 || (width === this.canvas.width && height === this.canvas.height)) return;
    for (const canvas of [this.canvas, this.ink]) {
      canvas.width = width;
      canvas.height = height;
    }
    const first = !this.sized;
    this.sized = true;
    if (first) this.fit();
    if (first && this.wanted) this.camera = this.wanted;
    this.refresh();
  }

  refresh(): void {
    if (this.pending) return;
    this.pending = true;
    requestAnimationFrame(() => {
      this.pending = false;
      this.paint();
    });
  }

  private paint(): void {
    if (!this.scene) return;
    ++this.frames;
    const ratio = this.ratio;
    const room = this.view.scale / ratio;
    const switchSize = Math.min(22, Math.max(3.5, room * 0.5)) * ratio;
    const shade = (name: string): number[] => rgb(token(name)).map((c) => c / 255);
    this.painter.paint(this.view, {
      hosts: this.unfolded,
      switchSize,
      hostSize: Math.min(12, Math.max(3, room * 0.11)) * ratio,
      apart: Math.min(5, room * 0.08) * ratio,
      thick: Math.min(2, Math.max(0.5, room / 40)) * ratio,
      least: ratio,
      ground: shade('--ground'),
      plain: shade('--node'),
    });
    this.write(switchSize);
  }

  /** Names, headings, and what is marked. */
  private write(switchSize: number): void {
    const { topology, drawing, kind } = this.scene!;
    const context = this.ink.getContext('2d')!;
    const ratio = this.ratio;
    const [width, height] = [this.ink.width, this.ink.height];
    context.clearRect(0, 0, width, height);
    context.textAlign = 'center';
    context.lineJoin = 'round';
    const place = (n: number): [number, number] => [drawing.xy[2 * n]! * this.view.scale + this.view.x, drawing.xy[2 * n + 1]! * this.view.scale + this.view.y];
    const text = (words: string, x: number, y: number, colour: string): void => {
      context.strokeStyle = token('--ground');
      context.lineWidth = 3 * ratio;
      context.strokeText(words, x, y);
      context.fillStyle = colour;
      context.fillText(words, x, y);
    };
    const taken: [number, number, number, number][] = [];
    const label = (words: string, x: number, y: number, colour: string, always = false): void => {
      const half = context.measureText(words).width / 2 + 3 * ratio;
      const box: [number, number, number, number] = [x - half, y - 11 * ratio, x + half, y + 3 * ratio];
      if (!always && taken.some((t) => box[0] < t[2] && box[2] > t[0] && box[1] < t[3] && box[3] > t[1])) return;
      taken.push(box);
      text(words, x, y, colour);
    };
    for (const [hit, strong] of [[this.hovered, false], [this.selected, true]] as const) {
      if (!hit) continue;
      context.strokeStyle = token(strong ? '--accent' : '--text');
      context.lineWidth = (strong ? 2.5 : 1.5) * ratio;
      context.beginPath();
      if (hit.kind === 'node') {
        const [x, y] = place(hit.index);
        context.arc(x, y, (kind[hit.index] === 0 ? switchSize * 0.75 : 8 * ratio) + 3 * ratio, 0, 2 * Math.PI);
      } else {
        const s = drawing.segments.subarray(8 * hit.index, 8 * hit.index + 8);
        for (const at of [0, 4]) {
          context.moveTo(s[at]! * this.view.scale + this.view.x, s[at + 1]! * this.view.scale + this.view.y);
          context.lineTo(s[at + 2]! * this.view.scale + this.view.x, s[at + 3]! * this.view.scale + this.view.y);
        }
      }
      context.stroke();
    }
    context.font = `600 ${12 * ratio}px system-ui, sans-serif`;
    if (this.view.scale < 12 * ratio) {
      for (const caption of drawing.captions) {
        const [x, y] = [caption.x * this.view.scale + this.view.x, caption.y * this.view.scale + this.view.y];
        label(caption.text, x, y - switchSize - 6 * ratio, token('--quiet'));
      }
    }
    context.font = `${11 * ratio}px system-ui, sans-serif`;
    if (this.selected?.kind === 'node') {
      const [x, y] = place(this.selected.index);
      label(topology.nodes.name[this.selected.index]!, x, y - switchSize / 2 - 9 * ratio, token('--accent'), true);
    }
    if (this.view.scale < 12 * ratio) return;
    const margin = 40 * ratio;
    const named = (n: number): void => {
      const [x, y] = place(n);
      if (x < -margin || x > width + margin || y < -margin || y > height + margin) return;
      const isHost = kind[n] !== 0;
      label(topology.nodes.name[n]!, x, y + (isHost ? 14 * ratio : -switchSize / 2 - 5 * ratio), token(isHost ? '--quiet' : '--text'));
    };
    for (let n = 0; n < topology.nodeCount; ++n) if (kind[n] === 0) named(n);
    if (this.view.scale >= 3 * unfoldAt * ratio) for (let n = 0; n < topology.nodeCount; ++n) if (kind[n] !== 0) named(n);
  }

  private zoom(factor: number, x: number, y: number): void {
    const scale = Math.min(Math.max(this.view.scale * factor, this.fitted.scale * 0.5), 900 * this.ratio);
    const by = scale / this.view.scale;
    this.view = { scale, x: x - (x - this.view.x) * by, y: y - (y - this.view.y) * by };
    this.refresh();
    this.events.moved();
  }

  private pan(dx: number, dy: number): void {
    this.view = { ...this.view, x: this.view.x + dx, y: this.view.y + dy };
    this.refresh();
  }

  private hit(event: PointerEvent | MouseEvent): Hit | null {
    if (!this.scene) return null;
    const box = this.element.getBoundingClientRect();
    const [px, py] = [(event.clientX - box.left) * this.ratio, (event.clientY - box.top) * this.ratio];
    const [x, y] = [(px - this.view.x) / this.view.scale, (py - this.view.y) / this.view.scale];
    return this.scene.at(x, y, (9 * this.ratio) / this.view.scale, (4 * this.ratio) / this.view.scale, this.unfolded);
  }

  private listen(): void {
    let grip: { x: number; y: number; moved: boolean } | null = null;
    this.element.addEventListener('pointerdown', (event) => {
      if (event.button !== 0) return;
      grip = { x: event.clientX, y: event.clientY, moved: false };
      this.element.setPointerCapture(event.pointerId);
    });
    this.element.addEventListener('pointermove', (event) => {
      if (grip) {
        const [dx, dy] = [event.clientX - grip.x, event.clientY - grip.y];
        if (!grip.moved && Math.hypot(dx, dy) < 4) return;
        this.element.classList.add('dragging');
        this.pan(dx * this.ratio, dy * this.ratio);
        grip = { x: event.clientX, y: event.clientY, moved: true };
        return;
      }
      const hit = this.hit(event);
      if (hit?.kind !== this.hovered?.kind || hit?.index !== this.hovered?.index) {
        this.hovered = hit;
        this.refresh();
      }
      this.events.hover(hit, event.clientX, event.clientY);
    });
    const release = (event: PointerEvent): void => {
      if (!grip) return;
      this.element.classList.remove('dragging');
      if (grip.moved) this.events.moved();
      else if (event.type === 'pointerup') this.events.select(this.hit(event));
      grip = null;
    };
    this.element.addEventListener('pointerup', release);
    this.element.addEventListener('pointercancel', release);
    this.element.addEventListener('pointerleave', () => {
      this.hovered = null;
      this.events.hover(null, 0, 0);
      this.refresh();
    });
    this.element.addEventListener('dblclick', (event) => {
      const hit = this.hit(event);
      if (hit) this.events.open(hit);
    });
    this.element.addEventListener('wheel', (event) => {
      event.preventDefault();
      const box = this.element.getBoundingClientRect();
      this.zoom(Math.exp(-event.deltaY * 0.0015), (event.clientX - box.left) * this.ratio, (event.clientY - box.top) * this.ratio);
    }, { passive: false });
    this.element.addEventListener('keydown', (event) => {
      if (event.ctrlKey || event.metaKey || event.altKey) return;
      const step = 60 * this.ratio;
      const [x, y] = [this.canvas.width / 2, this.canvas.height / 2];
      const keys: Record<string, () => void> = {
        ArrowLeft: () => this.pan(step, 0), ArrowRight: () => this.pan(-step, 0),
        ArrowUp: () => this.pan(0, step), ArrowDown: () => this.pan(0, -step),
        '+': () => this.zoom(1.3, x, y), '=': () => this.zoom(1.3, x, y), '-': () => this.zoom(1 / 1.3, x, y), '0': () => this.fit(),
        Enter: () => this.selected && this.events.open(this.selected),
      };
      const act = keys[event.key];
      if (!act) return;
      event.preventDefault();
      act();
      this.events.moved();
    });
  }
}
