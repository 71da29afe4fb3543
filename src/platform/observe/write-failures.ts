import { setTimeout as delay } from 'node:timers/promises';
import { Counter, Gauge, type Registry } from 'prom-client';

/** Longest time for which a reader of metrics waits to learn whether writes work, ms. */
const patienceMs = 500;

/** A process's failed writes. */
export interface WriteFailures {
  /** Determines whether writes work, unless that is known; may hang. Never rejects. */
  tryWriting: () => Promise<void>;
  /** Currently failing writers, each with the reason. */
  failing: () => ReadonlyMap<string, string>;
  /** Number of failures of each writer since the start. */
  failures: () => ReadonlyMap<string, number>;
  /** Number of unwritten rows of usage, and of requests that could not be counted because there were too many. */
  usage: () => { rows: number; lost: number };
}

/** Reports failing writes in the metrics. */
export function watchWriteFailures(registers: Registry[], parts: WriteFailures): void {
  const { tryWriting, failing, failures, usage } = parts;
  new Gauge({
    name: 'tapegraph_writes_failing',
    help: '1 for each writer whose last write to the database failed, by cause.',
    labelNames: ['writer', 'problem'],
    registers,
    async collect() {
      await Promise.race([tryWriting(), delay(patienceMs, undefined, { ref: false })]);
      this.reset();
      for (const [writer, problem] of failing()) this.set({ writer, problem }, 1);
    },
  });
  new Counter({
    name: 'tapegraph_write_failures_total',
    help: 'Failed writes to the database: those that would fail for every write, and all of periodic writers.',
    labelNames: ['writer'],
    registers,
    collect() {
      this.reset();
      for (const [writer, count] of failures()) this.inc({ writer }, count);
    },
  });
  new Gauge({
    name: 'tapegraph_usage_rows_waiting',
    help: 'Usage counts (account, date, scope group) waiting to be written.',
    registers,
    collect() {
      this.set(usage().rows);
    },
  });
  new Counter({
    name: 'tapegraph_usage_lost_total',
    help: 'Requests not counted as usage because too many counts were waiting to be written.',
    registers,
    collect() {
      this.reset();
      this.inc(usage().lost);
    },
  });
}
