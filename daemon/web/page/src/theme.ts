// Dark or light: as the system says, or as chosen.

const key = 'heddle.theme';
const system = matchMedia('(prefers-color-scheme: light)');
const listeners = new Set<() => void>();

export function isDark(): boolean {
  const chosen = localStorage.getItem(key);
  return chosen ? chosen === 'dark' : !system.matches;
}
function apply(): void {
  document.documentElement.dataset.theme = isDark() ? 'dark' : 'light';
  for (const listener of listeners) listener();
}
export function toggle(): void {
  localStorage.setItem(key, isDark() ? 'light' : 'dark');
  apply();
}
export function onTheme(listener: () => void): () => void {
  listeners.add(listener);
  return () => listeners.delete(listener);
}
export function startTheme(): void {
  system.addEventListener('change', apply);
  apply();
}
/** A colour of the style sheet. */
export function token(name: string): string {
  return getComputedStyle(document.documentElement).getPropertyValue(name).trim();
}
