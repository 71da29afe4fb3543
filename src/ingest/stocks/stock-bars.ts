import { type BarColumns, barColumns, type Timeframe } from '../../domain/bar.ts';
import { aggregateBars } from '../../domain/bar-aggregation.ts';
import { instantBounds } from '../../domain/instant-gate.ts';
import { addDays, exchangeDate, exchangeInstant, type SessionDate } from '../../domain/market-time.ts';
import type { Transaction } from '../../store/engine/transaction.ts';
import {
  concatBars,
  firstAtOrAfter,
  lockAllBarBlocks,
  type WrittenBlock,
  writeBars,
} from '../../store/market/bar-blocks.ts';
import { rejectSealedBars } from '../../store/market/sealed-bars.ts';
import { saveUnknownTickers } from '../../store/market/symbols.ts';
import { stockDayBars, stockMinuteBars } from '../../tape/csv/stock-bars.ts';
import { type BarBatch, slices } from '../files/bar-batch.ts';
import { loadBarFile } from '../files/bar-file.ts';
import type { FileJob, FileResult, Loader } from '../files/file-job.ts';

// Runs merged and written by one statement: bounds what is decoded at a time.
const runsAtOnce = 256;

/** 5m and 1h follow from the sessions' 1m bars, all of them: a bar sent later changes the longer bar it lies in. */
async function writeDerived(tx: Transaction, sessions: readonly WrittenBlock[]): Promise<number> {
  let changed = 0;
  for (const timeframe of ['5m', '1h'] as const) {
    const bySymbol = new Map<string, BarColumns[]>();
    for (const { symbol, bars } of sessions) {
      const part = aggregateBars(bars, timeframe);
      const parts = bySymbol.get(symbol);
      if (parts) parts.push(part);
      else bySymbol.set(symbol, [part]);
    }
    const runs = [...bySymbol].map(([symbol, parts]) => ({
      symbol,
      bars: parts.length === 0 ? barColumns(0) : concatBars(parts),
    }));
    changed += (await writeBars(tx, timeframe, runs, { locked: true })).length;
  }
  return changed;
}

/** The sessions that ascending bars are of. */
function* sessionsOf(bars: BarColumns): Generator<SessionDate> {
  for (let i = 0; i < bars.tsMs.length; ) {
    const session = exchangeDate(bars.tsMs[i]!);
    yield session;
    i = firstAtOrAfter(bars, exchangeInstant(addDays(session, 1)));
  }
}

async function writeBatch(
  tx: Transaction,
  timeframe: Timeframe,
  batch: BarBatch,
  sessions: Set<SessionDate>,
): Promise<number> {
  let changed = 0;
  for (const slice of slices(batch.runs(), runsAtOnce)) {
    const runs = slice.map(([symbol, bars]) => ({ symbol, bars }));
    for (const { bars } of runs) for (const session of sessionsOf(bars)) sessions.add(session);
    await saveUnknownTickers(
      tx,
      runs.map((run) => run.symbol),
    );
    // The longer bars of a session change only with its minutes.
    const written = await writeBars(tx, timeframe, runs, { locked: true, unless: rejectSealedBars });
    changed += written.length + (timeframe === '1m' ? await writeDerived(tx, written) : 0);
  }
  return changed;
}

async function loadBars(job: FileJob, timeframe: '1m' | '1d'): Promise<FileResult> {
  await lockAllBarBlocks(job.tx);
  const sessions = new Set<SessionDate>();
  const result = await loadBarFile(
    job,
    (timeframe === '1m' ? stockMinuteBars : stockDayBars)(instantBounds(job.now())),
    (batch, { symbol, bar }) => batch.push(symbol, bar),
    (batch) => writeBatch(job.tx, timeframe, batch, sessions),
  );
  return { ...result, parts: [...sessions] };
}

/**
 * Minute aggregates: 1m blocks, and the 5m and 1h blocks that follow from them. A ticker not known yet enters the
 * directory.
 */
export const loadStockMinuteBars: Loader = (job) => loadBars(job, '1m');

/** Day aggregates: 1d blocks. */
export const loadStockDayBars: Loader = (job) => loadBars(job, '1d');
