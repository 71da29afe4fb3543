import { residentBytes } from '../own-gateway.ts';

/** Readings of one process, by minutes since the start. */
interface Readings {
  minutes: number[];
  bytes: number[];
  /** Event-loop delay at the 99th percentile, seconds. */
  loopP99: number[];
  heap: number[];
}

/** CPU and memory of a process. */
export interface ProcessReport {
  pid: number;
  minutes: number;
  peakBytes: number;
  endBytes: number;
  /** Growth of resident memory after the warm-up, bytes a minute; null when it did not live long enough to tell. */
  slope: number | null;
  /** Median and largest of the readings, seconds; null without any. */
  loopP99: { median: number; most: number } | null;
  /**
   * The least that the heap took in the first and in the last third of its life, bytes: what was alive after a
   * collection. Null without enough readings.
   */
  alive: { first: number; last: number } | null;
}

/** Slope of the least-squares line through the points. */
export function slopeOf(x: readonly number[], y: readonly number[]): number {
  const mean = (values: readonly number[]) => values.reduce((sum, value) => sum + value, 0) / values.length;
  const [mx, my] = [mean(x), mean(y)];
  const above = x.reduce((sum, value, i) => sum + (value - mx) * (y[i]! - my), 0);
  return above / x.reduce((sum, value) => sum + (value - mx) ** 2, 0);
}

/** Metrics of a process: event-loop delay, seconds, and heap in use, bytes. */
async function metricsOf(port: number): Promise<{ loopP99?: number; heap?: number }> {
  try {
    const text = await (await fetch(`http://127.0.0.1:${port}/metrics`, { signal: AbortSignal.timeout(2000) })).text();
    const read = (name: string) => {
      const found = new RegExp(`^${name} (\\S+)`, 'm').exec(text)?.[1];
      return found === undefined ? undefined : Number(found);
    };
    const [loopP99, heap] = [read('nodejs_eventloop_lag_p99_seconds'), read('nodejs_heap_size_used_bytes')];
    return { ...(loopP99 !== undefined && { loopP99 }), ...(heap !== undefined && { heap }) };
  } catch {
    return {};
  }
}

function aliveOf(heap: readonly number[]): ProcessReport['alive'] {
  const third = Math.floor(heap.length / 3);
  if (third < 12) return null;
  return { first: Math.min(...heap.slice(0, third)), last: Math.min(...heap.slice(-third)) };
}

/** Reads memory and event-loop delay of the workers every few seconds. */
export function watchProcesses(pids: () => number[], metricsPort: number, warmUpMinutes: number) {
  const started = performance.now();
  const byPid = new Map<number, Readings>();
  const read = async () => {
    const minutes = (performance.now() - started) / 60_000;
    await Promise.all(
      pids().map(async (pid, index) => {
        const bytes = residentBytes(pid);
        if (bytes === null) return;
        const readings = byPid.get(pid) ?? { minutes: [], bytes: [], loopP99: [], heap: [] };
        byPid.set(pid, readings);
        readings.minutes.push(minutes);
        readings.bytes.push(bytes);
        const told = await metricsOf(metricsPort + index);
        if (told.loopP99 !== undefined) readings.loopP99.push(told.loopP99);
        if (told.heap !== undefined) readings.heap.push(told.heap);
      }),
    );
  };
  const timer = setInterval(() => void read(), 5000);
  return {
    stop(): ProcessReport[] {
      clearInterval(timer);
      return [...byPid].map(([pid, { minutes, bytes, loopP99, heap }]) => {
        const from = minutes.findIndex((minute) => minute >= Math.max(warmUpMinutes, minutes[0]! + 1));
        const enough = from >= 0 && minutes.length - from >= 24;
        const sorted = loopP99.toSorted((a, b) => a - b);
        return {
          pid,
          minutes: minutes.at(-1)! - minutes[0]!,
          peakBytes: Math.max(...bytes),
          endBytes: bytes.at(-1)!,
          slope: enough ? slopeOf(minutes.slice(from), bytes.slice(from)) : null,
          loopP99: sorted.length > 0 ? { median: sorted[sorted.length >> 1]!, most: sorted.at(-1)! } : null,
          alive: aliveOf(heap),
        };
      });
    },
  };
}
