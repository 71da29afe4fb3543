import { writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { parentPort, workerData } from 'node:worker_threads';
import { gzipSync } from 'node:zlib';
import { makeFolders } from '../../platform/runtime/folders.ts';
import { dayFile, dayHistoryFile, minuteFile } from './market/bar-files.ts';
import { chainFile, type SessionChain, sessionChain } from './market/chain-file.ts';
import { corporateFile } from './market/corporate.ts';
import { optionBarFile } from './market/options/option-bar-file.ts';
import { optionTapeFile } from './market/options/option-tape-file.ts';
import { isCorporate, isTape, type SampleTask, type TapeTask } from './market/plan.ts';
import { type SamplePrices, samplePrices } from './market/prices.ts';
import { stockTapeFile } from './market/stock-tape-file.ts';
import { sampleSymbolOf } from './market/universe.ts';

/** Input of the writer. */
export interface SampleWriterData {
  folder: string;
  tasks: SampleTask[];
}

/** Sent for each file once it is written: its task, and its path. */
export interface SampleWritten {
  index: number;
  path: string;
  /** The quotes of an option tape. */
  quotes: string | null;
}

type BarTask = Exclude<SampleTask, TapeTask | { dataset: 'chain' } | { range: unknown }>;

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

function barText(prices: SamplePrices, task: BarTask): string {
  if ('sessions' in task) return dayHistoryFile(prices, task.sessions);
  if (task.dataset === 'stock-minute-bars') return minuteFile(prices, task.session, task.untilMs);
  if (task.dataset === 'stock-day-bars') return dayFile(prices, task.session, task.untilMs);
  return optionBarFile(prices, task.session, task.untilMs);
}

function textOf(prices: SamplePrices, chains: Map<string, SessionChain>, task: Exclude<SampleTask, TapeTask>): string {
  if (isCorporate(task)) return corporateFile(prices, task.dataset, task.range);
  return task.dataset === 'chain' ? chainText(prices, chains, task) : barText(prices, task);
}

function writeFile(path: string, text: string): string {
  makeFolders(dirname(path));
  writeFileSync(path, gzipSync(text, { level: 1 }));
  return path;
}

/** Writes a tape; for options also their quotes. */
function writeTape(prices: SamplePrices, folder: string, task: TapeTask): Omit<SampleWritten, 'index'> {
  const { dataset, name, session, untilMs, shape, again } = task;
  const pathOf = (kind: string) => join(folder, kind, `${name}.csv.gz`);
  if (again) return { path: pathOf(dataset), quotes: pathOf('option-quotes') };
  if (dataset === 'stock-trades')
    return { path: writeFile(pathOf(dataset), stockTapeFile(prices, session, untilMs, shape)), quotes: null };
  const { trades, quotes } = optionTapeFile(prices, session, untilMs, shape);
  return { path: writeFile(pathOf(dataset), trades), quotes: writeFile(pathOf('option-quotes'), quotes) };
}

// Runs in a thread of its own: while it generates a file, earlier files are being stored.
function writeAll({ folder, tasks }: SampleWriterData, written: (message: SampleWritten) => void): void {
  const prices = samplePrices();
  const chains = new Map<string, SessionChain>();
  for (const [index, task] of tasks.entries()) {
    if (isTape(task)) {
      written({ index, ...writeTape(prices, folder, task) });
      continue;
    }
    const text = textOf(prices, chains, task);
    const path = writeFile(join(folder, task.dataset, `${task.name}.csv.gz`), text);
    written({ index, path, quotes: null });
  }
}

if (parentPort) {
  const port = parentPort;
  writeAll(workerData as SampleWriterData, (message) => port.postMessage(message));
}
