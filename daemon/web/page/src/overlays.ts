// What the map's colours can mean. Each overlay gives every direction of a link and every node a position on a scale of 255
// steps (255: nobody knows), the colours of these steps, and a legend.
import { colour, css, rgb, type Rgb, type ScaleName } from './scales';
import type { Frame } from './store';
import type { Topology } from './topology';

export const unknownStep = 255;
export interface Step { colour: Rgb; alpha: number; width: number }
export interface Tick { step: number; label: string }

export interface Overlay {
  key: string;
  title: string;
  /** What the colour stands for, with its unit. */
  unit: string;
  scale?: ScaleName;
  ticks: Tick[];
  /** For overlays whose steps are kinds, not amounts. */
  kinds?: { step: number; label: string; dark: string; light: string }[];
  /** For overlays of amounts: that of a direction (below 0: not known), and the step of an amount. */
  amount?: { of(frame: Frame, direction: number): number; step(amount: number): number };
  /** Which end of the scale stands out; the upper one if it is not said. */
  standsOut?: 'least';
  link(frame: Frame, topology: Topology, direction: number, context: Context): number;
  node(frame: Frame, topology: Topology, node: number, context: Context): number;
}

/** What an overlay may need besides the frame. */
export interface Context {
  /** By node: position of the innermost set that it belongs to, or -1. */
  setOf: Int32Array;
}

// The square root shows differences where most links are: far below their rate.
const rootStep = (thousandths: number): number =>
  thousandths < 0 ? unknownStep : Math.min(254, Math.round(254 * Math.sqrt(Math.min(thousandths, 1000) / 1000)));
const rootTicks = [0, 5, 20, 50, 100].map((p) => ({ step: rootStep(p * 10), label: String(p) }));

/** Largest step of a node's links, both directions. */
function busiest(step: (direction: number) => number, topology: Topology, node: number): number {
  let most = unknownStep;
  for (const link of topology.linksAt(node)) {
    for (const direction of [2 * link, 2 * link + 1]) {
      const at = step(direction);
      if (at !== unknownStep && (most === unknownStep || at > most)) most = at;
    }
  }
  return most;
}

const errorStep = (errors: number): number => (errors <= 0 ? 0 : Math.min(254, 60 + Math.round(Math.max(0, Math.log10(errors)) * 39)));

/** Of a bit error rate as frames have it: from 10^-17 on, where nobody minds, to 10^-7. */
const bitsStep = (bits: number): number => (bits < 0 ? unknownStep : bits === 0 ? 0 : Math.max(20, Math.min(254, Math.round((bits - 300) * 0.254))));
/** As `heddle health --bits` writes it. */
export function bitErrors(bits: number): string { return bits < 0 ? 'unknown' : bits === 0 ? '0' : (10 ** (bits / 100 - 20)).toExponential(1); }

const portStates = ['unknown', 'down', 'initializing', 'armed', 'active'];
const powerKinds = [
  { step: 4, label: 'on', dark: '#4f7fb0', light: '#4f7fb0' },
  { step: 5, label: 'on, kept by an operator', dark: '#56b4e9', light: '#0072b2' },
  { step: 3, label: 'going off or coming back', dark: '#e69f00', light: '#c77f00' },
  { step: 1, label: 'off', dark: '#e8e8f0', light: '#20242c' },
  { step: 2, label: 'off by an operator', dark: '#cc79a7', light: '#a8487f' },
];
/** The kinds are the numbers that the daemon sends; a link that is not regulated is told by the state of its ports. */
function powerStep(power: number, portState: number): number {
  return power > 0 ? power : portState >= 4 ? 4 : portState === 0 ? unknownStep : 1;
}

export const overlays: Overlay[] = [
  {
    key: 'utilization', title: 'Utilization', unit: '% of the data rate, each direction', scale: 'cividis', ticks: rootTicks,
    amount: { of: (frame, direction) => frame.utilization[direction]!, step: rootStep },
    link: (frame, _, direction) => rootStep(frame.utilization[direction]!),
    node: (frame, topology, node) => busiest((d) => rootStep(frame.utilization[d]!), topology, node),
  },
  {
    key: 'congestion', title: 'Congestion', unit: '% of the time that data waited for credits', scale: 'inferno', ticks: rootTicks,
    amount: { of: (frame, direction) => frame.congestion[direction]!, step: rootStep },
    link: (frame, _, direction) => rootStep(frame.congestion[direction]!),
    node: (frame, topology, node) => busiest((d) => rootStep(frame.congestion[d]!), topology, node),
  },
  {
    key: 'locality', title: 'Locality', unit: '% of a set’s traffic that stays within it', scale: 'viridis',
    ticks: [0, 25, 50, 75, 100].map((p) => ({ step: Math.round(p * 2.54), label: String(p) })),
    standsOut: 'least',
    link: () => unknownStep,
    node: (frame, _, node, context) => {
      const value = frame.locality[context.setOf[node]!];
      return value === undefined || value <= -2000 ? unknownStep : Math.round(Math.max(0, value) * 0.254);
    },
  },
  {
    key: 'errors', title: 'Errors', unit: 'errors counted at the ports', scale: 'inferno',
    ticks: [[0, '0'], [1, '1'], [10, '10'], [1e3, '1k'], [1e5, '100k']].map(([n, label]) => ({ step: errorStep(n as number), label: label as string })),
    amount: { of: (frame, direction) => frame.errors[direction]!, step: errorStep },
    link: (frame, _, direction) => errorStep(frame.errors[direction]!),
    node: (frame, topology, node) => busiest((d) => errorStep(frame.errors[d]!), topology, node),
  },
  {
    key: 'bits', title: 'Bit errors', unit: 'effective bit error rate of what a direction brings', scale: 'inferno',
    ticks: [[0, '0'], [500, '1e-15'], [800, '1e-12'], [1100, '1e-9']].map(([n, label]) => ({ step: bitsStep(n as number), label: label as string })),
    amount: { of: (frame, direction) => frame.bits[direction]!, step: bitsStep },
    link: (frame, _, direction) => bitsStep(frame.bits[direction]!),
    node: (frame, topology, node) => busiest((d) => bitsStep(frame.bits[d]!), topology, node),
  },
  {
    key: 'power', title: 'Power', unit: 'state of the links', ticks: [], kinds: powerKinds,
    link: (frame, _, direction) => powerStep(frame.power[direction >> 1]!, frame.state[direction >> 1]!),
    node: () => unknownStep,
  },
  {
    key: 'qos', title: 'QoS drift', unit: 'tables read back, against those designed', ticks: [],
    kinds: [
      { step: 4, label: 'as designed', dark: '#4f7fb0', light: '#4f7fb0' },
      { step: 1, label: 'differs', dark: '#e69f00', light: '#c77f00' },
    ],
    link: (frame, _, direction) => { const drift = frame.drift[direction]!; return drift < 0 ? unknownStep : drift > 0 ? 1 : 4; },
    node: () => unknownStep,
  },
];

export function overlay(key: string | undefined): Overlay { return overlays.find((o) => o.key === key) ?? overlays[0]!; }
export function stateName(state: number): string { return portStates[state] ?? 'unknown'; }

/** The looks of all 256 steps. */
export function steps(of: Overlay, dark: boolean): Step[] {
  const grey: Rgb = dark ? [92, 100, 112] : [178, 184, 192];
  const all: Step[] = Array.from({ length: 256 }, () => ({ colour: grey, alpha: 0.22, width: 1 }));
  if (of.kinds) {
    for (const kind of of.kinds) all[kind.step] = { colour: rgb(dark ? kind.dark : kind.light), alpha: kind.step === 4 ? 0.35 : 1, width: kind.step === 4 ? 1 : 2.2 };
  } else {
    for (let i = 0; i < 255; ++i) {
      const at = i / 254;
      all[i] = { colour: colour(of.scale!, at, dark), alpha: 0.5 + 0.5 * Math.min(1, at * 1.6), width: 1 + 2.2 * at * at };
    }
  }
  return all;
}

export function gradient(of: Overlay, dark: boolean): string {
  const parts = Array.from({ length: 11 }, (_, i) => css(colour(of.scale!, i / 10, dark)));
  return `linear-gradient(to right, ${parts.join(', ')})`;
}
