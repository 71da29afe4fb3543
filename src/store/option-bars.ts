import { type BarColumns, barColumns } from '../domain/bar.ts';
import type { CoverageStatus } from '../domain/coverage.ts';
import type { SessionDate } from '../domain/market-time.ts';
import { contractId, type OptionContract } from '../domain/option-contract.ts';
import { underlyingOf } from '../domain/option-root.ts';
import { blockVersion, decodeBars, encodeBars, mergeBars } from './bar-blocks.ts';
import type { Store } from './connection.ts';
import { type CopyValue, copyInto } from './copy.ts';
import type { Transaction } from './transaction.ts';

/** Bar lengths that are kept of option contracts. */
export type OptionTimeframe = '1m' | '5m';

/** Bars of one contract in one session, to be written. */
export interface OptionBarRun {
  underlying: string;
  sessionDate: SessionDate;
  /** Contract path form: `O:` and the OSI symbol. */
  contract: string;
  /** Ascending by tsMs, no two alike. */
  bars: BarColumns;
}

/** Takes all option bars for a long writer (a whole file) until its transaction ends. */
export async function lockOptionBars(tx: Transaction): Promise<void> {
  await tx.query(`SELECT pg_advisory_xact_lock(hashtextextended('option_bar_blocks', 0))`);
}

const keyOf = (run: { sessionDate: string; contract: string }) => `${run.sessionDate} ${run.contract}`;

async function blocksBefore(tx: Transaction, timeframe: OptionTimeframe, runs: readonly OptionBarRun[]) {
  const { rows } = await tx.query<{
    sessionDate: string;
    contract: string;
    status: string;
    version: string;
    payload: Buffer;
  }>({
    name: 'option-bar-blocks',
    text: `SELECT b.session_date AS "sessionDate", b.contract, b.status, b.version, b.payload
           FROM unnest($2::text[], $3::text[], $4::text[]) AS wanted(underlying, session_date, contract)
           JOIN option_bar_blocks b ON b.underlying = wanted.underlying AND b.session_date = wanted.session_date
             AND b.contract = wanted.contract AND b.timeframe = $1`,
    values: [
      timeframe,
      runs.map((run) => run.underlying),
      runs.map((run) => run.sessionDate),
      runs.map((run) => run.contract),
    ],
  });
  return new Map(rows.map((row) => [keyOf(row), row]));
}

/**
 * Merges bars into their blocks, inside the caller's transaction, which holds `lockOptionBars`; a bar already there is replaced
 * when it differs. Bars of an observed session give way whole to reconciled ones, and all do when the runs are `whole`: every bar of
 * their session. Returns the runs that changed, with all their bars.
 */
export async function saveOptionBars(
  tx: Transaction,
  timeframe: OptionTimeframe,
  status: CoverageStatus,
  runs: readonly OptionBarRun[],
  { whole = false } = {},
): Promise<OptionBarRun[]> {
  if (runs.length === 0) return [];
  const before = await blocksBefore(tx, timeframe, runs);
  const changed = runs.flatMap((run) => {
    const old = before.get(keyOf(run));
    const bars = old?.status === status && !whole ? mergeBars(decodeBars(old.payload), run.bars) : run.bars;
    const payload = Buffer.from(encodeBars(bars));
    const version = blockVersion(payload);
    return old?.version === version && old.status === status ? [] : [{ ...run, bars, payload, version }];
  });
  if (changed.length === 0) return [];
  await tx.query({
    name: 'save-option-bar-blocks',
    text: `INSERT INTO option_bar_blocks (underlying, session_date, contract, timeframe, status, count, version, payload)
           SELECT underlying, session_date, contract, $1, $2, count, version, payload
           FROM unnest($3::text[], $4::text[], $5::text[], $6::int[], $7::text[], $8::bytea[])
             AS written(underlying, session_date, contract, count, version, payload)
           ON CONFLICT (underlying, session_date, contract, timeframe) DO UPDATE SET status = excluded.status,
             count = excluded.count, version = excluded.version, payload = excluded.payload`,
    values: [
      timeframe,
      status,
      changed.map((block) => block.underlying),
      changed.map((block) => block.sessionDate),
      changed.map((block) => block.contract),
      changed.map((block) => block.bars.tsMs.length),
      changed.map((block) => block.version),
      changed.map((block) => block.payload),
    ],
  });
  return changed;
}

const blockTypes = {
  underlying: 'text',
  session_date: 'text',
  contract: 'text',
  timeframe: 'text',
  status: 'text',
  count: 'int4',
  version: 'text',
  payload: 'bytea',
} as const;

function* blockValues(
  runs: Iterable<OptionBarRun & { timeframe: OptionTimeframe }>,
  status: CoverageStatus,
): Generator<CopyValue[]> {
  for (const { underlying, sessionDate, contract, timeframe, bars } of runs) {
    const payload = encodeBars(bars);
    yield [underlying, sessionDate, contract, timeframe, status, bars.tsMs.length, blockVersion(payload), payload];
  }
}

/**
 * Writes all bars of underlyings' sessions anew, in a transaction that holds `lockOptionBars`: what was stored of them is taken out. Runs
 * are taken and encoded as the database takes them. Returns how many blocks there are.
 */
export async function replaceOptionBars(
  tx: Transaction,
  sessionDate: SessionDate,
  underlyings: readonly string[],
  status: CoverageStatus,
  runs: Iterable<OptionBarRun & { timeframe: OptionTimeframe }>,
): Promise<number> {
  await tx.query('DELETE FROM option_bar_blocks WHERE underlying = ANY($1) AND session_date = $2', [
    underlyings,
    sessionDate,
  ]);
  return copyInto(tx, 'option_bar_blocks', blockTypes, blockValues(runs, status));
}

const cacheKey = (contract: string, sessionDate: SessionDate, timeframe: OptionTimeframe, version: string) =>
  `option-bars:${contract}:${sessionDate}:${timeframe}:${version}`;

/** A contract's bars of a session, ascending. Shared with other readers: do not change them. */
export interface StoredOptionBars {
  bars: BarColumns;
  /** Where they come from; null when none are stored. */
  status: CoverageStatus | null;
}

/** The bars of several contracts in one session, in one statement, by path form (`O:…`); a contract without is absent. */
export async function readOptionBarsOf(
  store: Store,
  contracts: readonly OptionContract[],
  sessionDate: SessionDate,
  timeframe: OptionTimeframe,
): Promise<Map<string, StoredOptionBars>> {
  const { rows } = await store.pool.query<{
    contract: string;
    status: CoverageStatus;
    version: string;
    payload: Buffer;
  }>({
    name: 'read-option-bars',
    text: `SELECT b.contract, b.status, b.version, b.payload FROM unnest($1::text[], $2::text[]) AS wanted(underlying, contract)
           JOIN option_bar_blocks b ON b.underlying = wanted.underlying AND b.session_date = $3
             AND b.contract = wanted.contract AND b.timeframe = $4`,
    values: [
      contracts.map((contract) => underlyingOf(contract.root)),
      contracts.map((contract) => contractId(contract)),
      sessionDate,
      timeframe,
    ],
  });
  const read = new Map<string, StoredOptionBars>();
  for (const { contract, status, version, payload } of rows) {
    const key = cacheKey(contract, sessionDate, timeframe, version);
    let bars = store.blocks.get<BarColumns>(key);
    if (!bars) {
      bars = decodeBars(payload);
      store.blocks.set(key, bars, bars.tsMs.length * 64);
    }
    read.set(contract, { bars, status });
  }
  return read;
}

/** `readOptionBarsOf` for one contract; empty when none are stored. */
export async function readOptionBars(
  store: Store,
  contract: OptionContract,
  sessionDate: SessionDate,
  timeframe: OptionTimeframe,
): Promise<StoredOptionBars> {
  const read = await readOptionBarsOf(store, [contract], sessionDate, timeframe);
  return read.get(contractId(contract)) ?? { bars: barColumns(0), status: null };
}
