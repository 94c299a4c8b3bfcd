// What regulation and QoS verification know of links, where the daemon has them. A daemon that has not answers 404, and the
// page says so.
import { ask } from './store';
import type { Context } from './overlays';

interface LinkPower { a: { guid: string; port: number }; power?: string; regulation?: string }

/** Refreshes what an overlay needs; true when there is something new. */
export async function loadExtras(_overlay: string, _context: Context): Promise<boolean> {
  return false;
}

export async function optional<T>(path: string): Promise<T | null> {
  return ask<T>(path).catch(() => null);
}
export type { LinkPower };
