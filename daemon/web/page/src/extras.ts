// What regulation and QoS verification know of links, where the daemon has them. One that has not says so (404, 501), and so does
// the page.
import type { Context } from './overlays';
import { ask, type Store } from './store';

export interface PowerLink { name: string; state: string; mode: string; full: string; exempt: string; wish: string; for_seconds: number; transitions: number; reason: string }
interface Qos { ports: number; differ: { port: string; guid: string; what: string }[] }

export async function optional<T>(path: string): Promise<T | null> {
  return ask<T>(path).catch(() => null);
}

let power: { links: PowerLink[] } | null = null;
let asked = -Infinity;
let busy = false;

/** What the regulation says of every link; asked anew when it is older than a second, or ten in a large fabric. */
export async function powerLinks(store: Store): Promise<PowerLink[] | null> {
  const patience = (store.topology?.linkCount ?? 0) > 5000 ? 10_000 : 900;
  if (!busy && performance.now() - asked > patience) {
    busy = true;
    asked = performance.now();
    power = await optional<{ links: PowerLink[] }>('/v1/links/power');
    busy = false;
  }
  return power?.links ?? null;
}

/** Brings up to date what an overlay needs besides the frame; true where it needs anything. */
export async function loadExtras(store: Store, overlay: string, context: Context): Promise<boolean> {
  if (overlay === 'power') {
    const links = await powerLinks(store);
    context.power = links && new Map(links.map((link) => [link.name, powerWord(link)]));
    return true;
  }
  if (overlay === 'qos') {
    const qos = await optional<Qos>('/v1/qos');
    context.drift = qos && qos.ports > 0 ? new Map(qos.differ.map((port) => [port.guid + port.port.slice(port.port.lastIndexOf('/')), port.what])) : null;
    return true;
  }
  return false;
}

/** One word for what the map shows. */
function powerWord(link: PowerLink): string {
  if (link.state === 'off') return link.wish === 'off' ? 'forced off' : 'off';
  if (link.state === 'lost') return 'down';
  if (link.state === 'active') return link.wish === 'on' || link.wish === 'pin' ? 'forced on' : 'on';
  return link.state;
}
