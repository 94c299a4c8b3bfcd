// Figures as a person reads them; an en dash where nobody knows.

export const nothing = '–';

export function percent(thousandths: number): string {
  return thousandths < 0 ? nothing : (thousandths / 10).toFixed(1) + ' %';
}
/** Of a ratio from 0 to 1, or null. */
export function ratio(value: number | null | undefined): string {
  return value === null || value === undefined ? nothing : (value * 100).toFixed(1) + ' %';
}

const units: [number, string][] = [[1e15, 'P'], [1e12, 'T'], [1e9, 'G'], [1e6, 'M'], [1e3, 'k']];
function scaled(value: number, unit: string): string {
  for (const [size, letter] of units) {
    if (Math.abs(value) >= size) return trimmed(value / size) + ' ' + letter + unit;
  }
  return trimmed(value) + ' ' + unit;
}
function trimmed(value: number): string {
  return Math.abs(value) >= 100 ? value.toFixed(0) : value.toFixed(1);
}

export function bits(perSecond: number | null | undefined): string {
  return perSecond === null || perSecond === undefined ? nothing : scaled(perSecond, 'bit/s');
}
export function bytes(count: number | null | undefined): string {
  return count === null || count === undefined ? nothing : scaled(count, 'B');
}
export function watts(value: number | null | undefined): string {
  return value === null || value === undefined ? nothing : scaled(value, 'W');
}
export function count(value: number | null | undefined): string {
  return value === null || value === undefined ? nothing : value.toLocaleString('en-US');
}
export function duration(seconds: number | null | undefined): string {
  if (seconds === null || seconds === undefined) return nothing;
  if (seconds < 1) return (seconds * 1000).toFixed(0) + ' ms';
  if (seconds < 120) return seconds.toFixed(seconds < 10 ? 1 : 0) + ' s';
  if (seconds < 7200) return (seconds / 60).toFixed(0) + ' min';
  if (seconds < 172800) return (seconds / 3600).toFixed(1) + ' h';
  return (seconds / 86400).toFixed(1) + ' d';
}
