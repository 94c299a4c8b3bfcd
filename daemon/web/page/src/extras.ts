// What a daemon may not have: one that does not regulate says so (404, 501), and so does the page.
import { ask } from './store';

export interface PowerLink { name: string; state: string; mode: string; full: string; exempt: string; wish: string; for_seconds: number; transitions: number; reason: string }

export async function optional<T>(path: string): Promise<T | null> {
  return ask<T>(path).catch(() => null);
}
