import { mkdirSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { parentPort, workerData } from 'node:worker_threads';
import { gzipSync } from 'node:zlib';
import { dayFile, dayHistoryFile, minuteFile } from '../tape/sample/bar-files.ts';
import { chainFile, type SessionChain, sessionChain } from '../tape/sample/chain-file.ts';
import { optionBarFile } from '../tape/sample/option-bar-file.ts';
import type { SampleTask } from '../tape/sample/plan.ts';
import { type SamplePrices, samplePrices } from '../tape/sample/prices.ts';
import { sampleSymbolOf } from '../tape/sample/universe.ts';

/** What the writer is started with. */
export interface SampleWriterData {
  folder: string;
  tasks: SampleTask[];
}

/** Sent for each file once it is written: which task it was, and where it lies. */
export interface SampleWritten {
  index: number;
  path: string;
}

function chainText(
  prices: SamplePrices,
  chains: Map<string, SessionChain>,
  task: SampleTask & { dataset: 'chain' },
): string {
  const key = `${task.symbol} ${task.session}`;
  let chain = chains.get(key);
  if (!chain) {
    chain = sessionChain(prices, sampleSymbolOf(task.symbol), task.session);
    chains.set(key, chain);
  }
  return chainFile(prices, chain, task.minute);
}

function textOf(prices: SamplePrices, chains: Map<string, SessionChain>, task: SampleTask): string {
  if (task.dataset === 'chain') return chainText(prices, chains, task);
  if ('sessions' in task) return dayHistoryFile(prices, task.sessions);
  if (task.dataset === 'stock-minute-bars') return minuteFile(prices, task.session, task.untilMs);
  if (task.dataset === 'stock-day-bars') return dayFile(prices, task.session, task.untilMs);
  return optionBarFile(prices, task.session, task.untilMs);
}

// Runs in a thread of its own: while it makes a file, the files before are being stored.
function writeAll({ folder, tasks }: SampleWriterData, written: (message: SampleWritten) => void): void {
  const prices = samplePrices();
  const chains = new Map<string, SessionChain>();
  for (const [index, task] of tasks.entries()) {
    const path = join(folder, task.dataset, `${task.name}.csv.gz`);
    mkdirSync(dirname(path), { recursive: true });
    writeFileSync(path, gzipSync(textOf(prices, chains, task), { level: 1 }));
    written({ index, path });
  }
}

if (parentPort) {
  const port = parentPort;
  writeAll(workerData as SampleWriterData, (message) => port.postMessage(message));
}
