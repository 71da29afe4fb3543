import { residentBytes } from '../own-gateway.ts';

/** Readings of one process, by minutes since the start. */
interface Readings {
  minutes: number[];
  bytes: number[];
  /** Event-loop delay at the 99th percentile, seconds. */
  loopP99: number[];
}

/** What a process took. */
export interface ProcessReport {
  pid: number;
  minutes: number;
  peakBytes: number;
  endBytes: number;
  /** Growth of resident memory after the warm-up, bytes a minute; null when it did not live long enough to tell. */
  slope: number | null;
  /** Median and largest of the readings, seconds; null without any. */
  loopP99: { median: number; most: number } | null;
}

/** Slope of the least-squares line through the points. */
export function slopeOf(x: readonly number[], y: readonly number[]): number {
  const mean = (values: readonly number[]) => values.reduce((sum, value) => sum + value, 0) / values.length;
  const [mx, my] = [mean(x), mean(y)];
  const above = x.reduce((sum, value, i) => sum + (value - mx) * (y[i]! - my), 0);
  return above / x.reduce((sum, value) => sum + (value - mx) ** 2, 0);
}

async function loopDelay(port: number): Promise<number | null> {
  try {
    const text = await (await fetch(`http://127.0.0.1:${port}/metrics`, { signal: AbortSignal.timeout(2000) })).text();
    const found = /^nodejs_eventloop_lag_p99_seconds (\S+)/m.exec(text)?.[1];
    return found === undefined ? null : Number(found);
  } catch {
    return null;
  }
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
        const readings = byPid.get(pid) ?? { minutes: [], bytes: [], loopP99: [] };
        byPid.set(pid, readings);
        readings.minutes.push(minutes);
        readings.bytes.push(bytes);
        const delay = await loopDelay(metricsPort + index);
        if (delay !== null) readings.loopP99.push(delay);
      }),
    );
  };
  const timer = setInterval(() => void read(), 5000);
  return {
    stop(): ProcessReport[] {
      clearInterval(timer);
      return [...byPid].map(([pid, { minutes, bytes, loopP99 }]) => {
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
        };
      });
    },
  };
}
