// What the page knows: the fabric, the live figures that the daemon pushes, and perhaps an earlier sweep that is looked at
// in their place.
import { Topology, type TopologyText } from './topology';
import { advance } from './vlq';

export interface Totals {
  injected: number; delivered: number;
  utilization_mean: number | null; utilization_max: number | null; congestion_max: number | null; failed: number;
}
interface FrameText {
  seq: number; shape: string; sweep: number; at: number; least: number; total: Totals | null;
  utilization: string; congestion: string; errors: string; state: string; locality: string; power: string; drift: string; bits: string;
}

/** Figures of one sweep. Ratios in thousandths, -1 for what nobody knows; directions as in Topology.leaving(). */
export class Frame {
  readonly utilization: Int16Array;
  readonly congestion: Int16Array;
  readonly errors: Float64Array;
  readonly state: Uint8Array;
  readonly locality: Int16Array;
  /** By link: what regulation has made of it (daemon/web/standing.h). Not kept of earlier sweeps, and neither is drift. */
  readonly power: Uint8Array;
  /** By direction, of the port that it leaves: 1 if its QoS tables are not those pushed, -1 if nobody has compared them. */
  readonly drift: Int8Array;
  /** By direction, as counted where it comes in: 0 no bit errors, else hundredths of decades above 10^-20; -1 not known. Not kept either. */
  readonly bits: Int16Array;
  at = 0;
  sweep = 0;
  /** Changes of a ratio below this many thousandths may not have been told. */
  least = 1;
  total: Totals | null = null;

  constructor(topology: Topology) {
    this.utilization = new Int16Array(2 * topology.linkCount).fill(-1);
    this.congestion = new Int16Array(2 * topology.linkCount).fill(-1);
    this.errors = new Float64Array(2 * topology.linkCount);
    this.state = new Uint8Array(topology.linkCount);
    this.locality = new Int16Array(topology.sets.length).fill(-2000);
    this.power = new Uint8Array(topology.linkCount);
    this.drift = new Int8Array(2 * topology.linkCount).fill(-1);
    this.bits = new Int16Array(2 * topology.linkCount).fill(-1);
  }

  take(text: FrameText): void {
    advance(this.utilization, text.utilization);
    advance(this.congestion, text.congestion);
    advance(this.errors, text.errors);
    advance(this.state, text.state);
    advance(this.locality, text.locality);
    advance(this.power, text.power);
    advance(this.drift, text.drift);
    advance(this.bits, text.bits);
    this.at = text.at;
    this.sweep = text.sweep;
    this.least = text.least;
    this.total = text.total;
  }
}

export type Connection = 'connecting' | 'live' | 'lost' | 'waiting';
type Topic = 'topology' | 'frame' | 'connection' | 'time';

export async function ask<T>(path: string): Promise<T> {
  const answer = await fetch(path);
  const body = await answer.json().catch(() => ({ error: answer.statusText }));
  if (!answer.ok) throw new Error((body as { error?: string }).error ?? answer.statusText);
  return body as T;
}

export class Store {
  topology: Topology | null = null;
  live: Frame | null = null;
  /** The sweep that is looked at in place of the live one. */
  past: Frame | null = null;
  times: number[] = [];
  depth = 0;
  connection: Connection = 'connecting';
  problem = '';

  private sequence = 0;
  private bytes = 0;
  private loading = false;
  private held: { kind: string; text: FrameText }[] = [];
  private readonly listeners = new Map<Topic, Set<() => void>>();

  get frame(): Frame | null { return this.past ?? this.live; }
  /** Characters of events received so far. */
  get received(): number { return this.bytes; }

  on(topic: Topic, listener: () => void): () => void {
    const all = this.listeners.get(topic) ?? new Set();
    this.listeners.set(topic, all);
    all.add(listener);
    return () => all.delete(listener);
  }
  private tell(topic: Topic): void {
    for (const listener of [...(this.listeners.get(topic) ?? [])]) listener();
  }
  private connect(state: Connection, problem = ''): void {
    this.connection = state;
    this.problem = problem;
    this.tell('connection');
  }

  start(): void {
    const events = new EventSource('/v1/page/events');
    const take = (kind: string) => (event: MessageEvent<string>) => {
      this.bytes += event.data.length;
      const text = JSON.parse(event.data) as FrameText;
      this.held.push({ kind, text });
      this.drain().catch((error: Error) => {
        this.connect('lost', error.message);
        events.close();
        setTimeout(() => this.start(), 1000);
      });
    };
    events.addEventListener('whole', take('whole'));
    events.addEventListener('delta', take('delta'));
    events.onerror = () => {
      if (this.topology === null) this.connect('waiting', 'The fabric is being discovered.');
      else this.connect('lost', 'The daemon does not answer.');
      if (events.readyState !== EventSource.CLOSED) return;
      setTimeout(() => this.start(), 1000);
    };
  }

  private async drain(): Promise<void> {
    if (this.loading) return;
    while (this.held.length > 0) {
      const { kind, text } = this.held.shift()!;
      if (this.topology?.shape !== text.shape) {
        this.loading = true;
        try {
          await this.loadTopology();
        } finally {
          this.loading = false;
        }
        // While it was on its way, the fabric may have changed again: the next whole frame says so.
        if (this.topology?.shape !== text.shape) continue;
      }
      if (kind === 'whole') {
        this.live = new Frame(this.topology!);
      } else if (!this.live || text.seq !== this.sequence + 1) {
        throw new Error('a frame is missing');
      }
      this.live!.take(text);
      this.sequence = text.seq;
      if (this.times.at(-1) !== text.at) this.times.push(text.at); // or the same sweep again, of which links have changed since
      if (this.depth > 0 && this.times.length > this.depth) this.times.splice(0, this.times.length - this.depth);
      if (this.connection !== 'live') this.connect('live');
      this.tell('time');
      if (!this.past) this.tell('frame');
    }
  }

  private async loadTopology(): Promise<void> {
    const [text, times] = await Promise.all([
      ask<TopologyText>('/v1/page/topology'),
      ask<{ times: number[]; depth: number }>('/v1/page/times').catch(() => ({ times: [], depth: 0 })),
    ]);
    this.topology = new Topology(text);
    this.live = null;
    this.past = null;
    this.times = times.times;
    this.times.pop(); // the whole frame that follows
    this.depth = times.depth;
    this.tell('topology');
  }

  /** Looks at the sweep nearest to a time; null for the live one. */
  async goTo(at: number | null): Promise<void> {
    if (at === null) {
      this.past = null;
    } else {
      const text = await ask<FrameText>(`/v1/page/slice?at=${at}`);
      if (!this.topology || text.shape !== this.topology.shape) return;
      const frame = new Frame(this.topology);
      frame.take(text);
      this.past = frame;
    }
    this.tell('time');
    this.tell('frame');
  }
}
