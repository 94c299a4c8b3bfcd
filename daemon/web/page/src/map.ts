// The map: the drawing itself, moved with pointer and keys. What it shows is told by its owner (views/map_view.ts).
//
// What is seen is the last complete picture, put where the view is: dragging a large fabric moves that picture, while one of where
// it has come to is drawn beside it. A margin all around is drawn as well where a picture takes more than a frame.
import { Painter, type Options, type View } from './gl';
import { steps, type Context, type Overlay } from './overlays';
import { rgb } from './scales';
import { manyLinks, Scene, type Hit } from './scene';
import type { Frame } from './store';
import type { Topology } from './topology';
import { isDark, token } from './theme';
import { h } from './dom';
import { Ink } from './ink';

/** Pixels that a switch's room must have before its hosts are drawn. */
const unfoldAt = 46;
/** Pixels of a switch's room below which the lines of a trunk are one, and a line as thin as can be. */
const fineBelow = 6;
/** Zoom against the whole fabric at which bands open to links, at most: before there are as few in view as are drawn one by one. */
const opensAt = 4;

export class FabricMap {
  readonly element: HTMLElement;
  private readonly canvas = h('canvas', { class: 'map-gl' });
  private readonly ink = new Ink();
  private readonly painter: Painter;
  scene: Scene | null = null;
  private view: View = { scale: 1, x: 0, y: 0 };
  private fitted: View = { scale: 1, x: 0, y: 0 };
  /** Of the picture that is seen, and of the one that is being drawn. */
  private shown: View | null = null;
  private drawn: View = this.view;
  /** Where the picture that is seen was put last. */
  private put: View | null = null;
  /** Pixels of the view, and of the picture beyond it on each side. */
  private size: [number, number] = [0, 0];
  private margin = 0;
  private selected: Hit | null = null;
  private hovered: Hit | null = null;
  private stale = true;
  private inkStale = true;
  private pending = false;
  private wasAfar = false;
  private dragged = false;
  /** A camera that was set before there was a size. */
  private wanted: [number, number, number] | null = null;
  private readonly places = new Map<string, [number, number]>();
  private readonly observer: ResizeObserver;
  /** Frames in which the map was seen at another place or in another state than before; pictures that were drawn. */
  frames = 0;
  pictures = 0;

  constructor(private readonly events: { hover(hit: Hit | null, x: number, y: number): void; select(hit: Hit | null): void; open(hit: Hit): void; moved(): void; afar(): void }) {
    this.element = h('div', { class: 'map-stage', tabindex: 0, role: 'application', 'aria-label': 'Map of the fabric: arrow keys move, plus and minus zoom, 0 shows all' }, this.canvas);
    this.painter = new Painter(this.canvas);
    this.observer = new ResizeObserver(() => this.resize());
    this.observer.observe(this.element);
    this.listen();
  }

  dispose(): void { this.observer.disconnect(); }
  private get ratio(): number { return Math.min(devicePixelRatio || 1, 2); }
  private get sized(): boolean { return this.size[0] > 0; }

  setTopology(topology: Topology): void {
    const first = this.scene === null && this.sized;
    const large = topology.linkCount > manyLinks;
    this.scene = new Scene(topology, this.places);
    this.painter.geometry(this.scene.geometry());
    this.selected = null;
    this.hovered = null;
    this.shown = null;
    this.setMargin(large);
    if (first) this.fit();
    this.refresh();
  }

  setLooks(overlay: Overlay): void {
    this.painter.looks(steps(overlay, isDark()));
    this.refresh();
  }

  setFrame(frame: Frame, overlay: Overlay, context: Context): void {
    if (!this.scene) return;
    const { lines, nodes } = this.scene.values(overlay, frame, context);
    if (this.painter.values(lines, nodes)) this.refresh();
  }

  select(hit: Hit | null): void {
    this.selected = hit;
    this.mark();
  }

  /** Whole fabric in view. */
  fit(): void {
    if (!this.scene) return;
    const { left, top, right, bottom } = this.scene.drawing.bounds;
    const [width, height] = this.size;
    if (!this.sized) return;
    const margin = 45 * this.ratio;
    // Names of parts stand upright above and below them.
    const beyond = (this.scene.bundles ? 150 : 45) * this.ratio;
    // The panel of overlays lies over the left.
    const panel = width > 900 * this.ratio ? 250 * this.ratio : 0;
    const scale = Math.min((width - panel - 2 * margin) / Math.max(right - left, 1), (height - 2 * beyond) / Math.max(bottom - top, 1));
    this.view = { scale, x: (panel + width) / 2 - (scale * (left + right)) / 2, y: height / 2 - (scale * (top + bottom)) / 2 };
    this.fitted = { ...this.view };
    this.schedule();
  }

  /** Centre of the view and zoom against the whole fabric, as in URLs. */
  get camera(): [number, number, number] {
    const { scale, x, y } = this.view;
    return [(this.size[0] / 2 - x) / scale, (this.size[1] / 2 - y) / scale, scale / this.fitted.scale];
  }
  set camera([x, y, zoom]: [number, number, number]) {
    if (!this.sized) {
      this.wanted = [x, y, zoom];
      return;
    }
    const scale = this.fitted.scale * zoom;
    this.view = { scale, x: this.size[0] / 2 - x * scale, y: this.size[1] / 2 - y * scale };
    this.schedule();
  }

  /** Brings a node into view, near enough to tell it from its neighbours. */
  show(hit: Hit): void {
    if (!this.scene || !this.sized) {
      requestAnimationFrame(() => this.show(hit));
      return;
    }
    if (hit.kind === 'part' || hit.kind === 'band') return this.enter(hit);
    const { topology, drawing, kind } = this.scene;
    const node = hit.kind === 'node' ? hit.index : topology.links.a[hit.index]!;
    const wanted = (kind[node] === 0 ? 14 : unfoldAt * 1.6) * this.ratio;
    const scale = Math.max(this.view.scale, wanted);
    this.view = { scale, x: this.size[0] / 2 - drawing.xy[2 * node]! * scale, y: this.size[1] / 2 - drawing.xy[2 * node + 1]! * scale };
    this.schedule();
    this.events.moved();
  }

  /** To where a part or a band opens. */
  private enter(hit: Hit): void {
    const { xy, segments } = this.scene!.bundles!;
    const [x, y] = hit.kind === 'part' ? [xy[2 * hit.index]!, xy[2 * hit.index + 1]!] : [segments[8 * hit.index + 2]!, segments[8 * hit.index + 3]!];
    this.camera = [x, y, 1.25 * this.opening];
    this.events.moved();
  }

  /** Where a node is drawn, in pixels of the page from the map's corner. */
  placeOf(node: number): [number, number] {
    const { xy } = this.scene!.drawing;
    return [(xy[2 * node]! * this.view.scale + this.view.x) / this.ratio, (xy[2 * node + 1]! * this.view.scale + this.view.y) / this.ratio];
  }

  /** Zoom from which on links are drawn one by one. */
  private get opening(): number { return Math.min(opensAt, this.scene!.switchLinks / manyLinks); }
  /** Bands are drawn in place of links. */
  get afar(): boolean { return this.scene !== null && this.scene.bundles !== null && this.view.scale < this.opening * this.fitted.scale; }
  private get unfolded(): boolean { return this.view.scale >= unfoldAt * this.ratio; }

  private resize(): void {
    const size: [number, number] = [Math.round(this.element.clientWidth * this.ratio), Math.round(this.element.clientHeight * this.ratio)];
    if (size[0] === 0 || size[1] === 0 || (size[0] === this.size[0] && size[1] === this.size[1])) return;
    const first = !this.sized;
    this.size = size;
    this.layCanvases();
    if (first) this.fit();
    if (first && this.wanted) this.camera = this.wanted;
    this.refresh();
  }

  private setMargin(large: boolean): void {
    const margin = large ? 0.2 : 0;
    if (margin === this.margin) return;
    this.margin = margin;
    if (this.sized) this.layCanvases();
  }

  private get border(): number { return Math.round(this.margin * Math.max(...this.size)); }

  private layCanvases(): void {
    const [width, height] = this.size.map((pixels) => pixels + 2 * this.border);
    for (const canvas of [this.canvas, this.ink.canvas]) {
      canvas.width = width!;
      canvas.height = height!;
    }
    this.canvas.style.width = `${width! / this.ratio}px`;
    this.canvas.style.height = `${height! / this.ratio}px`;
    this.painter.resize();
    this.shown = null;
  }

  /** What is drawn is another. */
  private refresh(): void {
    this.stale = true;
    this.schedule();
  }
  /** What is marked is another. */
  private mark(): void {
    this.inkStale = true;
    this.schedule();
  }
  private schedule(): void {
    if (this.pending) return;
    this.pending = true;
    requestAnimationFrame(() => {
      this.pending = false;
      this.frame();
    });
  }

  private same(a: View | null): boolean { return a !== null && a.scale === this.view.scale && a.x === this.view.x && a.y === this.view.y; }

  private frame(): void {
    if (!this.scene || !this.sized) return;
    let changed = !this.same(this.put);
    if (!this.painter.busy && (this.stale || !this.same(this.shown)) && this.painter.rest.over(this.dragged)) {
      this.drawn = { ...this.view };
      this.painter.begin(this.onSheet(this.drawn), this.options());
      this.stale = false;
      if (this.afar !== this.wasAfar) {
        this.wasAfar = this.afar;
        this.events.afar();
      }
    }
    if (this.painter.busy && this.painter.advance()) {
      ++this.pictures;
      this.shown = this.drawn;
      this.inkStale = true;
    }
    if (this.shown && this.inkStale && !this.painter.busy) {
      const { ratio } = this;
      this.painter.show(this.ink.write(this.scene, this.onSheet(this.shown), { hovered: this.hovered, selected: this.selected }, { ratio, switchSize: this.options().switchSize, unfoldAt, afar: this.afar }));
      this.inkStale = false;
      changed = true;
    }
    if (this.shown && changed) {
      this.lay(this.shown);
      ++this.frames;
    }
    if (this.painter.busy || this.stale || this.inkStale || !this.same(this.shown)) this.schedule();
  }

  /** Puts the picture of a view where that is in this one. */
  private lay(shown: View): void {
    const by = this.view.scale / shown.scale;
    // Whole pixels are copied, not blended.
    const place = (at: number, was: number): number => Math.round(at - (was + this.border) * by) / this.ratio;
    this.canvas.style.transform = `matrix(${by}, 0, 0, ${by}, ${place(this.view.x, shown.x)}, ${place(this.view.y, shown.y)})`;
    this.put = { ...this.view };
  }

  private onSheet(view: View): View { return { scale: view.scale, x: view.x + this.border, y: view.y + this.border }; }

  private options(): Options {
    const ratio = this.ratio;
    const room = this.view.scale / ratio;
    const shade = (name: string): number[] => rgb(token(name)).map((c) => c / 255);
    const { afar } = this;
    return {
      afar,
      hosts: this.unfolded,
      fine: !afar && room < fineBelow && ratio === 1,
      switchSize: (afar ? 11 : Math.min(22, Math.max(3.5, room * 0.5))) * ratio,
      hostSize: Math.min(12, Math.max(3, room * 0.11)) * ratio,
      apart: Math.min(5, room * 0.08) * ratio,
      thick: Math.min(2, Math.max(0.5, room / 40)) * ratio,
      least: ratio,
      ground: shade('--ground'),
      plain: shade('--node'),
    };
  }

  /** What the pointer was on is elsewhere. */
  private unhover(): void {
    this.hovered = null;
    this.events.hover(null, 0, 0);
    this.mark();
  }

  private zoom(factor: number, x: number, y: number): void {
    const scale = Math.min(Math.max(this.view.scale * factor, this.fitted.scale * 0.5), 900 * this.ratio);
    const by = scale / this.view.scale;
    this.view = { scale, x: x - (x - this.view.x) * by, y: y - (y - this.view.y) * by };
    this.schedule();
    this.events.moved();
  }

  private pan(dx: number, dy: number): void {
    this.view = { ...this.view, x: this.view.x + dx, y: this.view.y + dy };
    this.schedule();
  }

  private hit(event: PointerEvent | MouseEvent): Hit | null {
    if (!this.scene) return null;
    const box = this.element.getBoundingClientRect();
    const [px, py] = [(event.clientX - box.left) * this.ratio, (event.clientY - box.top) * this.ratio];
    const [x, y] = [(px - this.view.x) / this.view.scale, (py - this.view.y) / this.view.scale];
    if (this.afar) return this.scene.atAfar(x, y, (9 * this.ratio) / this.view.scale, (4 * this.ratio) / this.view.scale);
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
        if (!grip.moved) this.unhover();
        this.element.classList.add('dragging');
        this.dragged = true;
        this.pan(dx * this.ratio, dy * this.ratio);
        grip = { x: event.clientX, y: event.clientY, moved: true };
        return;
      }
      const hit = this.hit(event);
      if (hit?.kind !== this.hovered?.kind || hit?.index !== this.hovered?.index) {
        this.hovered = hit;
        this.mark();
      }
      this.events.hover(hit, event.clientX, event.clientY);
    });
    const release = (event: PointerEvent): void => {
      if (!grip) return;
      this.element.classList.remove('dragging');
      this.dragged = false;
      if (grip.moved) this.events.moved();
      else if (event.type === 'pointerup') this.events.select(this.hit(event));
      grip = null;
    };
    this.element.addEventListener('pointerup', release);
    this.element.addEventListener('pointercancel', release);
    this.element.addEventListener('pointerleave', () => this.unhover());
    this.element.addEventListener('dblclick', (event) => {
      const hit = this.hit(event);
      if (hit) this.events.open(hit);
    });
    this.element.addEventListener('wheel', (event) => {
      event.preventDefault();
      const box = this.element.getBoundingClientRect();
      this.unhover();
      this.zoom(Math.exp(-event.deltaY * 0.0015), (event.clientX - box.left) * this.ratio, (event.clientY - box.top) * this.ratio);
    }, { passive: false });
    this.element.addEventListener('keydown', (event) => {
      if (event.ctrlKey || event.metaKey || event.altKey) return;
      const step = 60 * this.ratio;
      const [x, y] = [this.size[0] / 2, this.size[1] / 2];
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
