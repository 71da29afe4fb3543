import type { GreeksSolve } from '../domain/greeks.ts';
import type { SessionDate } from '../domain/market-time.ts';
import { blockVersion } from './bar-blocks.ts';
import { encodeSolves, recordBytes } from './greeks-record.ts';
import type { Transaction } from './transaction.ts';

/** The solves of an underlying at a minute's boundary, to be written. */
export interface WrittenMinute {
  underlying: string;
  tsMs: number;
  /** Dollars; null when unknown. */
  spot: number | null;
  /** By contract path form. New contracts take the next places in this order. */
  solves: ReadonlyMap<string, GreeksSolve>;
}

/** Where the contracts of a session's underlyings have their records, as far as a writer knows. */
export type GreeksPlaces = Map<string, Map<string, number>>;

/** Learns the places of underlyings that a writer does not know yet. */
async function learnPlaces(
  tx: Transaction,
  session: SessionDate,
  underlyings: readonly string[],
  places: GreeksPlaces,
): Promise<void> {
  const unknown = underlyings.filter((underlying) => !places.has(underlying));
  if (unknown.length === 0) return;
  for (const underlying of unknown) places.set(underlying, new Map());
  const { rows } = await tx.query<{ underlying: string; contract: string; place: number }>(
    'SELECT underlying, contract, place FROM greeks_places WHERE underlying = ANY($1) AND session_date = $2',
    [unknown, session],
  );
  for (const { underlying, contract, place } of rows) places.get(underlying)!.set(contract, place);
}

async function savePlaces(tx: Transaction, session: SessionDate, added: readonly Place[]): Promise<void> {
  if (added.length === 0) return;
  await tx.query({
    name: 'save-greeks-places',
    text: `INSERT INTO greeks_places (underlying, contract, session_date, place)
           SELECT underlying, contract, $1, place FROM unnest($2::text[], $3::text[], $4::int[]) AS w(underlying, contract, place)`,
    values: [
      session,
      added.map(({ underlying }) => underlying),
      added.map(({ contract }) => contract),
      added.map(({ place }) => place),
    ],
  });
}

interface EncodedMinute extends Omit<WrittenMinute, 'solves'> {
  payload: Buffer;
}

type Place = { underlying: string; contract: string; place: number };

/** Gives every new contract the next place of its underlying, and packs the solves by place. */
function encodeMinutes(
  minutes: readonly WrittenMinute[],
  places: GreeksPlaces,
): { rows: EncodedMinute[]; added: Place[] } {
  const added: Place[] = [];
  const rows = minutes.map(({ underlying, tsMs, spot, solves }) => {
    const known = places.get(underlying)!;
    const byPlace = new Map<number, GreeksSolve>();
    for (const [contract, solve] of solves) {
      let place = known.get(contract);
      if (place === undefined) {
        place = known.size;
        known.set(contract, place);
        added.push({ underlying, contract, place });
      }
      byPlace.set(place, solve);
    }
    return { underlying, tsMs, spot, payload: encodeSolves(byPlace) };
  });
  return { rows, added };
}

const minuteColumns = 'underlying, session_date, ts_ms, spot, count, version, payload';

async function insertMinutes(tx: Transaction, session: SessionDate, rows: readonly EncodedMinute[]): Promise<void> {
  await tx.query(
    `INSERT INTO greeks_minutes (${minuteColumns}) SELECT underlying, $1, ts_ms, spot, count, version, payload
     FROM unnest($2::text[], $3::bigint[], $4::float8[], $5::int[], $6::text[], $7::bytea[])
       AS w(underlying, ts_ms, spot, count, version, payload)
     ON CONFLICT (underlying, session_date, ts_ms) DO UPDATE SET spot = excluded.spot, count = excluded.count,
       version = excluded.version, payload = excluded.payload`,
    [
      session,
      rows.map((row) => row.underlying),
      rows.map((row) => row.tsMs),
      rows.map((row) => row.spot),
      rows.map((row) => row.payload.length / recordBytes),
      rows.map((row) => blockVersion(row.payload)),
      rows.map((row) => row.payload),
    ],
  );
}

/**
 * Writes minutes of a session, in a transaction that holds the flow; a minute already there is replaced. `places` is what this writer
 * learned before, and learns more: of no use once a transaction failed.
 */
export async function saveGreeksMinutes(
  tx: Transaction,
  session: SessionDate,
  minutes: readonly WrittenMinute[],
  places: GreeksPlaces,
): Promise<void> {
  if (minutes.length === 0) return;
  await learnPlaces(tx, session, [...new Set(minutes.map(({ underlying }) => underlying))], places);
  const { rows, added } = encodeMinutes(minutes, places);
  await savePlaces(tx, session, added);
  await insertMinutes(tx, session, rows);
}

/** Takes the solves of underlyings out of a session, in a transaction that holds the flow. */
export async function removeGreeks(
  tx: Transaction,
  session: SessionDate,
  underlyings: readonly string[],
): Promise<void> {
  for (const table of ['greeks_minutes', 'greeks_places'])
    await tx.query(`DELETE FROM ${table} WHERE session_date = $1 AND underlying = ANY($2)`, [session, underlyings]);
}

/** Drops the solves of sessions before one. */
export async function dropGreeks(tx: Transaction, before: SessionDate): Promise<void> {
  for (const table of ['greeks_minutes', 'greeks_places'])
    await tx.query(`DELETE FROM ${table} WHERE session_date < $1`, [before]);
}
