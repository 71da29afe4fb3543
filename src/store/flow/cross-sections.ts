import { tradeDate } from '../../core/domain/calendar.ts';
import { type ContractMinutes, eachContractBefore, lastMinuteEnd } from '../../core/domain/flow/contract-minutes.ts';
import {
  type CrossSection,
  coverageAt,
  type FlowMeasures,
  flowMeasureNames,
  type PremiumColumns,
  type PremiumMinute,
} from '../../core/domain/flow/flow.ts';
import { createFlowTotals } from '../../core/domain/flow/flow-totals.ts';
import { dateOfEpochDay, epochDay, type SessionDate } from '../../core/domain/market-time.ts';
import { readFrom, type Store } from '../rows/connection.ts';
import { anyOf } from '../rows/models/any-of.ts';
import { upsertRows } from '../rows/models/sets.ts';
import { statement } from '../rows/statement.ts';
import type { Transaction } from '../rows/transaction.ts';
import { type Columns, decodeBlock, encodeBlock, known, measures, numbers } from '../series/codec.ts';
import { readContractMinutes } from './contract-minutes.ts';
import { coverageColumns, coverageKey, coverageOf } from './sessions.ts';

/** Reads the measures of a block's rows. A measure that the block lacks is unknown. */
function measuresReader(columns: Columns): (index: number) => FlowMeasures {
  const stored = flowMeasureNames.map((name) => [name, measures(columns, name)] as const);
  return (index) =>
    Object.fromEntries(stored.map(([name, values]) => [name, known(values[index]!)])) as unknown as FlowMeasures;
}

const latest = statement(
  'flow/cross-sections',
  { underlyings: 'text[]', session: 'text?', throughMs: 'int8', minuteMs: 'int8', wholeMinutes: 'bool', last: 'text' },
  {
    underlying: 'text',
    sessionDate: 'text',
    seq: 'int8',
    isWhole: 'bool',
    byStrike: 'bytea?',
    byExpiration: 'bytea?',
    ...coverageColumns,
  },
);

type LatestRow = Awaited<ReturnType<(typeof latest)['rows']>>[number];

/** A snapshot as it was stored. */
function storedSection(row: LatestRow): CrossSection {
  const byStrike = decodeBlock(row.byStrike!);
  const byExpiration = decodeBlock(row.byExpiration!);
  const [ofStrike, ofExpiration] = [measuresReader(byStrike), measuresReader(byExpiration)];
  return {
    symbol: row.underlying,
    seq: row.seq,
    coverage: coverageOf(row),
    byStrike: Array.from(numbers(byStrike, 'strike'), (strikeThousandths, index) => ({
      strikeThousandths,
      measures: ofStrike(index),
    })),
    byExpiration: Array.from(numbers(byExpiration, 'expiry'), (day, index) => ({
      expiry: dateOfEpochDay(day),
      measures: ofExpiration(index),
    })),
  };
}

/** A snapshot of the minutes of its session that began before `beforeMs`. */
function sectionBefore(row: LatestRow, parts: readonly ContractMinutes[], beforeMs: number): CrossSection {
  const totals = createFlowTotals();
  for (const part of parts)
    eachContractBefore(part, beforeMs, (contract, { volume, premium, count }) =>
      totals.add(contract, volume, premium, count),
    );
  const { underlying: symbol, seq } = row;
  return { symbol, seq, coverage: coverageAt(coverageOf(row), beforeMs), ...totals.take() };
}

/**
 * The snapshots of several underlyings: of `session`, or of the latest session that has one as of `throughMs`. One
 * observed beyond it is computed from the session's minutes that ended by then; without stored minutes it is skipped. A
 * store of ended bars computes all snapshots so. An underlying without any is absent. One statement, and those of
 * `readContractMinutes` if snapshots are computed.
 */
export async function readCrossSections(
  store: Store,
  underlyings: readonly string[],
  session: SessionDate | null,
  throughMs: number,
): Promise<Map<string, CrossSection>> {
  const beforeMs = lastMinuteEnd(throughMs);
  const asked = { underlyings: [...new Set(underlyings)], session, throughMs, minuteMs: beforeMs };
  const rows = await latest.rows(readFrom(store, 'flow', underlyings), {
    ...asked,
    wholeMinutes: store.endedBarsOnly,
    last: tradeDate(throughMs),
  });
  const computed = rows.filter(({ isWhole }) => !isWhole);
  const minutes =
    computed.length === 0 ? new Map<string, ContractMinutes[]>() : await readContractMinutes(store, computed, beforeMs);
  return new Map(
    rows.map((row) => {
      const parts = minutes.get(coverageKey(row)) ?? [];
      return [row.underlying, row.isWhole ? storedSection(row) : sectionBefore(row, parts, beforeMs)];
    }),
  );
}

function block(key: string, keys: readonly number[], rows: readonly FlowMeasures[]): Buffer {
  const columns = flowMeasureNames.map(
    (name) => [name, Float64Array.from(rows, (row) => row[name] ?? Number.NaN)] as const,
  );
  return Buffer.from(encodeBlock({ [key]: Float64Array.from(keys), ...Object.fromEntries(columns) }));
}

function strikeBlock({ byStrike }: CrossSection): Buffer {
  const strikes = byStrike.toSorted((a, b) => a.strikeThousandths - b.strikeThousandths);
  return block(
    'strike',
    strikes.map((row) => row.strikeThousandths),
    strikes.map((row) => row.measures),
  );
}

function expiryBlock({ byExpiration }: CrossSection): Buffer {
  const expiries = byExpiration.toSorted((a, b) => epochDay(a.expiry) - epochDay(b.expiry));
  return block(
    'expiry',
    expiries.map((row) => epochDay(row.expiry)),
    expiries.map((row) => row.measures),
  );
}

/**
 * Writes snapshots of underlyings' sessions, replacing earlier ones, in one statement. `saveCoverages` writes their
 * coverage, without which a snapshot is not read.
 */
export async function saveCrossSections(tx: Transaction, sections: readonly CrossSection[]): Promise<void> {
  const rows = sections.map((section) => ({
    underlying: section.symbol,
    sessionDate: section.coverage.sessionDate,
    seq: section.seq,
    byStrike: strikeBlock(section),
    byExpiration: expiryBlock(section),
    minutes: section.minutes ? Buffer.from(encodeMinutes(section.minutes)) : null,
  }));
  await upsertRows(tx, 'CrossSection', rows);
}

/** Premium by minute as a column block. */
function encodeMinutes(minutes: readonly PremiumMinute[]): Uint8Array {
  const column = (name: keyof PremiumMinute) => Float64Array.from(minutes, (minute) => minute[name]);
  return encodeBlock({
    tsMs: column('tsMs'),
    callPremiumUsd: column('callPremiumUsd'),
    putPremiumUsd: column('putPremiumUsd'),
  });
}

function decodeMinutes(payload: Uint8Array): PremiumColumns {
  const columns = decodeBlock(payload);
  const column = (name: keyof PremiumMinute) => numbers(columns, name);
  return {
    tsMs: column('tsMs'),
    callPremiumUsd: column('callPremiumUsd'),
    putPremiumUsd: column('putPremiumUsd'),
  };
}

/** Premium by minute of a stored session, ascending. */
interface PremiumSession {
  sessionDate: SessionDate;
  minutes: PremiumColumns;
}

/**
 * Premium by minute of the sessions from `from` to `to`, ascending, by underlying; sessions stored without it are
 * absent. One statement.
 */
export async function premiumSessions(
  store: Store,
  underlyings: readonly string[],
  { from, to }: { from: SessionDate; to: SessionDate },
): Promise<Map<string, PremiumSession[]>> {
  const rows = await readFrom(store, 'flow', underlyings).prisma.crossSection.findMany({
    where: { underlying: anyOf(underlyings), sessionDate: { gte: from, lte: to }, minutes: { not: null } },
    select: { underlying: true, sessionDate: true, minutes: true },
    orderBy: { sessionDate: 'asc' },
  });
  const sessions = Map.groupBy(rows, ({ underlying }) => underlying);
  return new Map(
    Array.from(sessions, ([underlying, some]) => [
      underlying,
      some.map(({ sessionDate, minutes }) => ({ sessionDate, minutes: decodeMinutes(minutes!) })),
    ]),
  );
}
