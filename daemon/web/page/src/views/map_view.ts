import { summary } from '../bundles';
import { append, fill, h, put } from '../dom';
import { percent } from '../format';
import { FabricMap } from '../map';
import { gradient, overlay, overlays, stateName, type Context } from '../overlays';
import { amend } from '../router';
import type { Hit } from '../scene';
import { css, rgb } from '../scales';
import { isDark, onTheme } from '../theme';
import type { MakeView } from '../view';

export const mapView: MakeView = (store, place) => {
  let chosen = overlay(place.query.get('overlay') ?? undefined);
  let selected: Hit | null = null;
  const context: Context = { setOf: new Int32Array() };
  const legend = h('div', { class: 'legend' });
  const tip = h('div', { class: 'tip', hidden: true });
  const card = h('aside', { class: 'card', hidden: true, 'aria-live': 'polite' });
  const note = h('p', { class: 'quiet note' });
  const picker = h('div', { class: 'picker', role: 'radiogroup', 'aria-label': 'Overlay' });
  let map: FabricMap;
  let saving = 0;

  const open = (hit: Hit): void => {
    const topology = store.topology!;
    if (hit.kind === 'part' || hit.kind === 'band') map.show(hit);
    else location.hash = hit.kind === 'node' ? topology.nodeHref(hit.index) : topology.linkHref(hit.index);
  };
  /** As the URL has it; parts and bands are as lasting as the drawing only. */
  const nameOf = (hit: Hit): string | undefined => {
    if (hit.kind === 'node') return store.topology!.nodes.guid[hit.index];
    return hit.kind === 'link' ? store.topology!.linkHref(hit.index).slice(7) : undefined;
  };
  const select = (hit: Hit | null): void => {
    selected = hit;
    map.select(hit);
    amend({ sel: hit && store.topology ? nameOf(hit) : undefined });
    showCard();
  };

  const bandFigures = (index: number): [string, string][] => {
    const [frame, bundles] = [store.frame!, map.scene!.bundles!];
    const band = bundles.bands[index]!;
    const side = (comes: boolean): string => {
      const directions = bundles.directions(band, comes);
      const [busy, waits] = [frame.utilization, frame.congestion].map((figures) => summary((d) => figures[d]!, directions));
      return `${percent(Math.round(busy!.mean))}, busiest ${percent(busy!.worst)}, waits ${percent(Math.round(waits!.mean))} to ${percent(waits!.worst)}`;
    };
    const links = band.away.map((d) => d >> 1);
    const down = links.filter((l) => frame.state[l]! < 4).length;
    return [
      ['links', `${links.length}` + (down > 0 ? `, ${down} not active` : '')],
      [`to ${bundles.parts[band.b]!.name}`, side(false)],
      [`to ${bundles.parts[band.a]!.name}`, side(true)],
      ['errors', String(band.away.reduce((sum, d) => sum + frame.errors[d]! + frame.errors[d ^ 1]!, 0))],
    ];
  };
  const figures = (hit: Hit): [string, string][] => {
    const [topology, frame] = [store.topology!, store.frame];
    if (!frame) return [];
    if (hit.kind === 'link') {
      const l = hit.index;
      const toA = topology.nodes.name[topology.links.a[l]!]!;
      const toB = topology.nodes.name[topology.links.b[l]!]!;
      return [
        ['rate', `${topology.rateName(l)}, ${topology.gbit(l)} Gbit/s`],
        ['state', stateName(frame.state[l]!)],
        [`to ${toB}`, `${percent(frame.utilization[2 * l]!)}, waits ${percent(frame.congestion[2 * l]!)}`],
        [`to ${toA}`, `${percent(frame.utilization[2 * l + 1]!)}, waits ${percent(frame.congestion[2 * l + 1]!)}`],
        ['errors', String(frame.errors[2 * l]! + frame.errors[2 * l + 1]!)],
      ];
    }
    if (hit.kind === 'band') return bandFigures(hit.index);
    if (hit.kind === 'part') {
      const part = map.scene!.bundles!.parts[hit.index]!;
      const most = summary((d) => frame.utilization[d]!, part.switches.flatMap((n) => [...topology.linksAt(n)].map((l) => topology.leaving(l, n))));
      const hosts = part.switches.reduce((sum, n) => sum + map.scene!.hostCount[n]!, 0);
      return [['switches', String(part.switches.length)], ['hosts', String(hosts)], ['leaving them, mean', percent(Math.round(most.mean))], ['busiest', percent(most.worst)]];
    }
    const n = hit.index;
    let [most, wait, hosts] = [-1, -1, 0];
    for (const l of topology.linksAt(n)) {
      if (topology.isSwitch(n) && topology.isHostLink(l)) ++hosts;
      for (const d of [2 * l, 2 * l + 1]) {
        most = Math.max(most, frame.utilization[d]!);
        wait = Math.max(wait, frame.congestion[d]!);
      }
    }
    const locality = frame.locality[map.scene!.setOf[n]!];
    return [
      ['kind', topology.typeName(n)],
      ['links', `${topology.linksAt(n).length}` + (topology.isSwitch(n) ? `, ${hosts} to hosts` : '')],
      ['LID', String(topology.nodes.lid[n])],
      ['busiest direction', percent(most)],
      ['longest wait', percent(wait)],
      ...(locality !== undefined && locality > -2000 ? [['locality', (locality / 10).toFixed(1) + ' %'] as [string, string]] : []),
    ];
  };
  const heading = (hit: Hit): string => {
    const topology = store.topology!;
    if (hit.kind === 'part') return map.scene!.bundles!.parts[hit.index]!.name;
    if (hit.kind === 'band') return map.scene!.bundles!.bandName(map.scene!.bundles!.bands[hit.index]!);
    return hit.kind === 'node' ? topology.nodes.name[hit.index]! : `${topology.portName(hit.index, 'a')} — ${topology.portName(hit.index, 'b')}`;
  };
  const list = (hit: Hit): HTMLElement => h('dl', null, figures(hit).flatMap(([name, value]) => [h('dt', null, name), h('dd', null, value)]));

  /** Where one goes from here. */
  function ways(hit: Hit): HTMLElement[] {
    const topology = store.topology!;
    if (hit.kind === 'node' || hit.kind === 'link') return [h('a', { class: 'button', href: hit.kind === 'node' ? topology.nodeHref(hit.index) : topology.linkHref(hit.index) }, 'Open')];
    const zoom = h('button', { type: 'button', class: 'button', onclick: () => map.show(hit) }, 'Zoom in');
    if (hit.kind === 'part' || !store.frame) return [zoom];
    const band = map.scene!.bundles!.bands[hit.index]!;
    const { at } = summary((d) => store.frame!.utilization[d]!, [...band.away, ...band.away.map((d) => d ^ 1)]);
    return at < 0 ? [zoom] : [zoom, h('a', { class: 'button', href: topology.linkHref(at >> 1) }, 'Busiest link')];
  }
  function showCard(): void {
    card.hidden = selected === null;
    if (!selected || !store.topology) return;
    const hit = selected;
    fill(card,
      h('header', null, h('h2', null, heading(hit)), h('button', { type: 'button', 'aria-label': 'Close', onclick: () => select(null) }, '×')),
      list(hit),
      h('p', null, ...ways(hit)));
  }

  map = new FabricMap({
    hover: (hit, x, y) => {
      tip.hidden = hit === null;
      if (!hit) return;
      fill(tip, h('strong', null, heading(hit)), list(hit));
      tip.style.left = `${Math.min(x + 14, innerWidth - 300)}px`;
      tip.style.top = `${Math.min(y + 14, innerHeight - 190)}px`;
    },
    select,
    open,
    afar: () => {
      showLegend();
      if (selected && !map.afar && (selected.kind === 'band' || selected.kind === 'part')) select(null);
    },
    moved: () => {
      clearTimeout(saving);
      saving = window.setTimeout(() => {
        if (element.isConnected) amend({ at: map.camera.map((v) => v.toPrecision(5)).join(',') });
      }, 300);
    },
  });

  function showLegend(): void {
    const dark = isDark();
    fill(legend, h('div', { class: 'legend-unit' }, chosen.unit));
    const bands = (): void => {
      if (map.afar) append(legend, [h('p', { class: 'quiet' }, `Bands are the links between two parts: ${chosen.kinds ? 'wide what most are, within the rarest' : 'wide their mean, within the worst'}. Zoom in for links.`)]);
    };
    if (chosen.kinds) {
      append(legend, chosen.kinds.map((kind) => {
        const swatch = h('span', { class: 'swatch' });
        swatch.style.background = css(rgb(dark ? kind.dark : kind.light));
        return h('div', { class: 'kind' }, swatch, kind.label);
      }));
      const words = chosen.key === 'power'
        ? !store.live?.power.some((state) => state > 0) && 'No regulation runs: port states are shown.'
        : !store.live?.drift.some((drift) => drift >= 0) && 'No tables have been verified.';
      append(legend, [words && h('div', { class: 'quiet' }, words), store.past && h('div', { class: 'quiet' }, 'As it is at this moment: earlier states are not kept.')]);
      bands();
      return;
    }
    const ramp = h('div', { class: 'ramp' });
    ramp.style.background = gradient(chosen, dark);
    const ticks = h('div', { class: 'ticks' }, chosen.ticks.map((tick) => {
      const mark = h('span', null, tick.label);
      mark.style.left = `${(tick.step / 254) * 100}%`;
      return mark;
    }));
    append(legend, [ramp, ticks]);
    const swatch = h('span', { class: 'swatch unknown' });
    append(legend, [h('div', { class: 'kind quiet' }, swatch, 'not known')]);
    bands();
  }
  function showPicker(): void {
    fill(picker, overlays.map((o) => h('button', { type: 'button', role: 'radio', 'aria-checked': String(o === chosen), onclick: () => choose(o.key) }, o.title)));
  }
  function choose(key: string): void {
    chosen = overlay(key);
    amend({ overlay: key === overlays[0]!.key ? undefined : key });
    showPicker();
    look();
  }
  function look(): void {
    map.setLooks(chosen);
    showLegend();
    setFrame();
  }
  function setFrame(): void {
    const frame = chosen.kinds ? store.live : store.frame;
    if (frame && map.scene) map.setFrame(frame, chosen, context);
  }

  function findSelected(name: string | null): void {
    const topology = store.topology;
    if (!name || !topology) return;
    const [guid, port] = name.split('/');
    const node = topology.node(guid!);
    if (node === undefined) return;
    const link = port === undefined ? undefined : topology.linkAt(node, Number(port));
    if (port !== undefined && link === undefined) return;
    const hit: Hit = link === undefined ? { kind: 'node', index: node } : { kind: 'link', index: link };
    if (!place.query.get('at')) map.show(hit);
    select(hit);
  }
  function camera(): void {
    const at = (place.query.get('at') ?? '').split(',').map(Number);
    if (at.length === 3 && at.every(Number.isFinite) && at[2]! > 0) map.camera = at as [number, number, number];
  }

  const element = h('section', { class: 'view map' }, map.element,
    h('div', { class: 'panel' }, picker, legend, note), card, tip);

  const onTopology = (): void => {
    if (!store.topology) return;
    const name = selected ? (selected.kind === 'node' ? 'kept' : 'kept') : place.query.get('sel');
    map.setTopology(store.topology);
    context.setOf = map.scene!.setOf;
    selected = null;
    showCard();
    look();
    requestAnimationFrame(() => {
      camera();
      if (name && name !== 'kept') findSelected(name);
      else findSelected(new URLSearchParams(location.hash.split('?')[1] ?? '').get('sel'));
    });
  };
  showPicker();
  if (store.topology) onTopology();
  const stop = onTheme(look);
  return {
    element,
    title: 'Map',
    map,
    onTopology,
    onFrame: () => {
      if (!store.frame || !map.scene) return;
      setFrame();
      if (selected) showCard();
      put(note, store.frame.least > 1 ? `Changes below ${(store.frame.least / 10).toFixed(1)} % may be shown later.` : '');
      if (chosen.kinds) showLegend();
    },
    onPlace: (to) => {
      if ((to.query.get('overlay') ?? overlays[0]!.key) !== chosen.key) choose(to.query.get('overlay') ?? overlays[0]!.key);
      if (to.query.get('sel')) findSelected(to.query.get('sel'));
      return true;
    },
    leave: () => {
      stop();
      map.dispose();
    },
  };
};
