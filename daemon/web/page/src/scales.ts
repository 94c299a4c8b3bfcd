// Colour scales that people with any colour vision can read (viridis, cividis, inferno: Smith and van der Walt 2015; Nuñez,
// Anderton and Renslow 2018), by interpolation between ten of their colours.

export type Rgb = [number, number, number];

const stops = {
  cividis: ['#00224e', '#123570', '#3b496c', '#575d6d', '#707173', '#8a8678', '#a59c74', '#c3b369', '#e1cc55', '#fee838'],
  viridis: ['#440154', '#482878', '#3e4989', '#31688e', '#26828e', '#1f9e89', '#35b779', '#6ece58', '#b5de2b', '#fde725'],
  inferno: ['#1b0c41', '#3a0963', '#5f136e', '#85216b', '#a92e5e', '#cb4149', '#e65d2f', '#f78410', '#fcae12', '#f5db4c'],
};
export type ScaleName = keyof typeof stops;

export function rgb(hex: string): Rgb {
  const value = parseInt(hex.slice(1), 16);
  return [value >> 16, (value >> 8) & 255, value & 255];
}

/** How far into a scale a dark ground lets colours begin: what comes before cannot be told from it. */
const darkest = 0.22;

/** Position 0 to 1. On a light ground the scale is turned round, so that little is near to the ground there, too. */
export function colour(name: ScaleName, position: number, dark: boolean): Rgb {
  const table = stops[name];
  const at = Math.min(Math.max(dark ? darkest + (1 - darkest) * position : 1 - position, 0), 1) * (table.length - 1);
  const below = Math.min(Math.floor(at), table.length - 2);
  const [from, to] = [rgb(table[below]!), rgb(table[below + 1]!)];
  return from.map((value, i) => Math.round(value + (to[i]! - value) * (at - below))) as Rgb;
}

export function css(c: Rgb, alpha = 1): string { return `rgb(${c[0]} ${c[1]} ${c[2]} / ${alpha})`; }
