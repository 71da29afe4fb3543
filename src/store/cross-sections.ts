import { type CrossSection, type FlowMeasures, flowMeasureNames } from '../domain/flow.ts';
import { dateOfEpochDay, epochDay, type SessionDate } from '../domain/market-time.ts';
import { type Columns, decodeBlock, encodeBlock, numbers } from './codec.ts';
import { readFrom, type Store } from './connection.ts';
import { type CoverageFields, coverageColumns, coverageOf } from './flow-coverage.ts';
import type { Transaction } from './transaction.ts';

interface CrossSectionRow extends CoverageFields {
  underlying: string;
  seq: number;
  by_strike: Buffer;
  by_expiration: Buffer;
}

function measuresAt(columns: Columns, index: number): FlowMeasures {
  return Object.fromEntries(
    flowMeasureNames.map((name) => [name, numbers(columns, name)[index]!]),
  ) as unknown as FlowMeasures;
}

function crossSectionOf(row: CrossSectionRow): CrossSection {
  const byStrike = decodeBlock(row.by_strike);
  const byExpiration = decodeBlock(row.by_expiration);
  return {
    symbol: row.underlying,
    seq: row.seq,
    coverage: coverageOf(row),
    byStrike: Array.from(numbers(byStrike, 'strike'), (strikeThousandths, index) => ({
      strikeThousandths,
      measures: measuresAt(byStrike, index),
    })),
    byExpiration: Array.from(numbers(byExpiration, 'expiry'), (day, index) => ({
      expiry: dateOfEpochDay(day),
      measures: measuresAt(byExpiration, index),
    })),
  };
}

/**
 * The snapshots of several underlyings in one statement: of `session`, or of the latest session held. One that was observed
 * beyond `throughMs` is passed over; an underlying without any is absent.
 */
export async function readCrossSections(
  store: Store,
  underlyings: readonly string[],
  session: SessionDate | null,
  throughMs: number,
): Promise<Map<string, CrossSection>> {
  const { rows } = await readFrom(store).query<CrossSectionRow>({
    name: 'cross-sections',
    text: `SELECT s.* FROM unnest($1::text[]) AS w(underlying) CROSS JOIN LATERAL (
             SELECT x.*, ${coverageColumns}
             FROM cross_sections x JOIN flow_coverage c ON c.underlying = x.underlying AND c.session_date = x.session_date
             WHERE x.underlying = w.underlying AND ($2::text IS NULL OR x.session_date = $2) AND c.observed_through_ms <= $3
             ORDER BY x.session_date DESC LIMIT 1) AS s`,
    values: [[...new Set(underlyings)], session, throughMs],
  });
  return new Map(rows.map((row) => [row.underlying, crossSectionOf(row)]));
}

function block(key: string, keys: readonly number[], measures: readonly FlowMeasures[]): Buffer {
  const columns = flowMeasureNames.map((name) => [name, Float64Array.from(measures, (row) => row[name])] as const);
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
 * Writes snapshots of underlyings' sessions, replacing earlier ones, in one statement. Their coverage is `saveCoverages`': without it a
 * snapshot is not read.
 */
export async function saveCrossSections(tx: Transaction, sections: readonly CrossSection[]): Promise<void> {
  await tx.query({
    name: 'save-cross-sections',
    text: `INSERT INTO cross_sections (underlying, session_date, seq, by_strike, by_expiration)
     SELECT * FROM unnest($1::text[], $2::text[], $3::bigint[], $4::bytea[], $5::bytea[])
     ON CONFLICT (underlying, session_date) DO UPDATE SET seq = excluded.seq, by_strike = excluded.by_strike,
       by_expiration = excluded.by_expiration`,
    values: [
      sections.map(({ symbol }) => symbol),
      sections.map(({ coverage }) => coverage.sessionDate),
      sections.map(({ seq }) => seq),
      sections.map(strikeBlock),
      sections.map(expiryBlock),
    ],
  });
}
