import { type CrossSection, type FlowMeasures, flowMeasureNames } from '../../domain/flow/flow.ts';
import { dateOfEpochDay, epochDay, type SessionDate } from '../../domain/market-time.ts';
import { readFrom, type Store } from '../rows/connection.ts';
import { upsertRows } from '../rows/models/sets.ts';
import { statement } from '../rows/statement.ts';
import type { Transaction } from '../rows/transaction.ts';
import { type Columns, decodeBlock, encodeBlock, known, measures, numbers } from '../series/codec.ts';
import { coverageColumns, coverageOf } from './coverage.ts';
import { encodeMinutes } from './premium-minutes.ts';

/** Reads the measures of a block's rows. A measure that the block lacks is unknown. */
function measuresReader(columns: Columns): (index: number) => FlowMeasures {
  const stored = flowMeasureNames.map((name) => [name, measures(columns, name)] as const);
  return (index) =>
    Object.fromEntries(stored.map(([name, values]) => [name, known(values[index]!)])) as unknown as FlowMeasures;
}

const latest = statement(
  'flow/cross-sections',
  { underlyings: 'text[]', session: 'text?', throughMs: 'int8' },
  {
    ...({ underlying: 'text', sessionDate: 'text', seq: 'int8', byStrike: 'bytea', byExpiration: 'bytea' } as const),
    ...coverageColumns,
  },
);

function crossSectionOf(row: Awaited<ReturnType<(typeof latest)['rows']>>[number]): CrossSection {
  const { underlying, seq, byStrike: strikes, byExpiration: expirations } = row;
  const byStrike = decodeBlock(strikes);
  const byExpiration = decodeBlock(expirations);
  const [ofStrike, ofExpiration] = [measuresReader(byStrike), measuresReader(byExpiration)];
  return {
    symbol: underlying,
    seq,
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

/**
 * The snapshots of several underlyings in one statement: of `session`, or of the latest stored session. One observed
 * beyond `throughMs` is skipped; an underlying without any is absent.
 */
export async function readCrossSections(
  store: Store,
  underlyings: readonly string[],
  session: SessionDate | null,
  throughMs: number,
): Promise<Map<string, CrossSection>> {
  const asked = { underlyings: [...new Set(underlyings)], session, throughMs };
  const rows = await latest.rows(readFrom(store, 'flow', underlyings), asked);
  return new Map(rows.map((row) => [row.underlying, crossSectionOf(row)]));
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
