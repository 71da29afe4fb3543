import { isTradingDay } from '../src/core/domain/calendar.ts';
import { type Bar, toBarColumns } from '../src/core/domain/market/bar.ts';
import { addDays, exchangeInstant, type SessionDate } from '../src/core/domain/market-time.ts';
import { saveChainCapture } from '../src/store/chain/chain-captures.ts';
import { saveGexCapture } from '../src/store/gex/captures.ts';
import { writeBars } from '../src/store/market/bar-blocks.ts';
import { saveSymbols } from '../src/store/market/symbols.ts';
import type { Store } from '../src/store/rows/connection.ts';
import { inTransaction } from '../src/store/rows/transaction.ts';
import { chain } from './dashboard.ts';
import { capture } from './gex-history.ts';

/** Size of the measurement's database. */
export interface Size {
  symbols: number;
  /** Those of the symbols that have chains, dealer gamma and option flow. */
  underlyings: number;
}

/** Captures of dealer gamma of an underlying in a session. */
export const capturesASession = 4;
/** Large trades of an underlying in a session, and the legs of each. */
const [eventsASession, legsAnEvent] = [30, 4];
export const legsASession = eventsASession * legsAnEvent;

/** The last session stored; the gateway's clock is in the morning after it. */
export const lastSession = '2026-11-19';

/** The last `count` trading days, oldest first. */
export function sessionsOf(count: number): SessionDate[] {
  const dates: SessionDate[] = [];
  for (let date: SessionDate = lastSession; dates.length < count; date = addDays(date, -1))
    if (isTradingDay(date)) dates.unshift(date);
  return dates;
}

/** Names whose alphabetical order differs from their numeric order. */
export function symbolOf(index: number): string {
  const code = (index * 7919) % 26 ** 3;
  const letters = [code / 26 ** 2, (code / 26) % 26, code % 26];
  return `Z${letters.map((letter) => String.fromCharCode(65 + Math.floor(letter))).join('')}`;
}

/** Minutes in which a symbol trades: one in fifty always, nine now and then, the others seldom. */
const minutesTraded = [390, 120, 40];
export const classOf = (index: number) => (index % 50 === 0 ? 0 : index % 50 < 10 ? 1 : 2);
/** Daily bars differ by this many symbols, so that some move more than others. */
const variants = 100;

function template(index: number): string {
  const [letter, number] = [index % 26, Math.floor(index / 26)];
  return `ZZZZ${String.fromCharCode(65 + letter)}${number}`;
}

function bar(tsMs: number, seed: number): Bar {
  const price = 100 + (seed % 61) + Math.round(Math.sin(seed / 7) * 500) / 100;
  const cents = (offset: number) => Math.round((price + offset) * 100) / 100;
  return {
    tsMs,
    open: cents(0),
    high: cents(0.07),
    low: cents(-0.06),
    close: cents(((seed * 37) % 100) / 50),
    volume: 10_000 + ((seed * 37) % 50_000),
    vwap: Math.round((price + 0.0123) * 1e4) / 1e4,
    tradeCount: 100 + (seed % 900),
  };
}

/** A session of bars of a symbol, `apart` minutes from each other. */
export function intraday(session: SessionDate, nth: number, { bars, apart }: { bars: number; apart: number }): Bar[] {
  const open = exchangeInstant(session, 570);
  return Array.from({ length: bars }, (_, i) => bar(open + i * apart * 60_000, i + nth));
}

/** Blocks as the store encodes them, of symbols that are only copied from. */
async function saveTemplates(store: Store, sessions: readonly SessionDate[]): Promise<void> {
  for (const [of, bars] of minutesTraded.entries()) {
    const apart = Math.floor(390 / bars);
    const all = sessions.flatMap((session, nth) => intraday(session, nth + of, { bars, apart }));
    await inTransaction(store, (tx) => writeBars(tx, '1m', [{ symbol: template(of), bars: toBarColumns(all) }]));
  }
  const recent = sessions.slice(-20).flatMap((session, nth) => intraday(session, nth, { bars: 78, apart: 5 }));
  await inTransaction(store, (tx) => writeBars(tx, '5m', [{ symbol: template(0), bars: toBarColumns(recent) }]));
  const daily = Array.from({ length: variants }, (_, of) => ({
    symbol: template(of),
    bars: toBarColumns(sessions.map((session, nth) => bar(exchangeInstant(session), nth * 3 + of * 17))),
  }));
  await inTransaction(store, (tx) => writeBars(tx, '1d', daily));
  for (let of = 0; of < 20; of++) {
    await inTransaction(store, async (tx) => {
      await saveGexCapture(tx, capture(template(of), exchangeInstant(lastSession, 960), lastSession, of, 60));
      await saveChainCapture(tx, chain(template(of)));
    });
  }
}

/** Prepares the copied data, in separate tables: symbols and sessions by number, blocks by class. */
async function prepareCopying(store: Store, size: Size, sessions: readonly SessionDate[]): Promise<void> {
  const { pool } = store;
  await saveTemplates(store, sessions);
  const indexes = Array.from({ length: size.symbols }, (_, index) => index);
  await pool.query('CREATE TABLE bench_symbols (nth int, symbol text COLLATE "C", class int)');
  await pool.query('INSERT INTO bench_symbols SELECT * FROM unnest($1::int[], $2::text[], $3::int[])', [
    indexes,
    indexes.map(symbolOf),
    indexes.map(classOf),
  ]);
  const templates = ['bar_blocks symbol', 'gex_captures underlying', 'chain_captures underlying'];
  for (const [table, key] of templates.map((each) => each.split(' '))) {
    await pool.query(`CREATE TABLE bench_${table} AS SELECT *, ascii(substr(${key}, 5)) - 65
        + 26 * substr(${key}, 6)::int AS of FROM ${table} WHERE ${key} LIKE 'ZZZZ_%'`);
    await pool.query(`DELETE FROM ${table} WHERE ${key} LIKE 'ZZZZ_%'`);
  }
  await pool.query('CREATE INDEX ON bench_bar_blocks (timeframe, span_start, of)');
  await pool.query('ANALYZE bench_symbols, bench_bar_blocks, bench_gex_captures, bench_chain_captures');
}

/** Columns of a table, with expressions in place of some; `t` is the row copied from. */
async function columns(store: Store, table: string, others: Record<string, string>): Promise<string> {
  const { rows } = await store.pool.query(
    `SELECT column_name FROM information_schema.columns
     WHERE table_schema = current_schema() AND table_name = $1 ORDER BY ordinal_position`,
    [table],
  );
  return rows.map(({ column_name: name }) => others[name] ?? `t.${name}`).join(', ');
}

/** Statements that write a session of all symbols: $1 its date, $2 the instant of its open, $3 underlyings. */
async function sessionStatements(store: Store): Promise<{ bars: string[]; options: string[] }> {
  const bars = await columns(store, 'bar_blocks', { symbol: 's.symbol' });
  const keys = { underlying: 's.symbol', session_date: '$1::text' };
  const gex = await columns(store, 'gex_captures', { ...keys, captured_at: '$2::int8 + k * 5400000' });
  const chains = await columns(store, 'chain_captures', { ...keys, captured_at: '$2::int8 + 21600000' });
  const id = `'sweep:O:' || s.symbol || '261218C00100000:' || $2::int8 + e * 700000 || ':' || e`;
  const at = '$2::int8 + e * 700000';
  const ofUnderlyings = 'bench_symbols AS s WHERE s.nth < $3::int';
  return {
    bars: [
      `INSERT INTO bar_blocks SELECT ${bars} FROM bench_bar_blocks AS t JOIN bench_symbols AS s ON s.class = t.of
       WHERE t.timeframe = '1m' AND t.span_start = $1::text AND $2::int8 > 0 AND $3::int > 0`,
      `INSERT INTO bar_blocks SELECT ${bars} FROM bench_bar_blocks AS t JOIN bench_symbols AS s ON s.nth < $3::int
       WHERE t.timeframe = '5m' AND t.span_start = $1::text AND $2::int8 > 0`,
    ],
    options: [
      `INSERT INTO gex_captures SELECT ${gex} FROM bench_symbols AS s JOIN bench_gex_captures AS t ON t.of = s.nth % 20,
       generate_series(0, ${capturesASession - 1}) AS k WHERE s.nth < $3::int`,
      `INSERT INTO chain_captures SELECT ${chains} FROM bench_symbols AS s
       JOIN bench_chain_captures AS t ON t.of = s.nth % 20 WHERE s.nth < $3::int`,
      `INSERT INTO flow_coverage SELECT s.symbol, $1::text, 'eod_reconciled', true, $2::int8, $2::int8 + 23400000, 1, true
       FROM ${ofUnderlyings}`,
      `INSERT INTO flow_events SELECT s.symbol, $1::text, ${id}, e + 1, 'sweep', ${at}, 400,
         CASE WHEN e = 7 AND s.nth % 10 = 0 THEN 2500000 ELSE 40000 + e * 1000 END, 1, 1.1, 'buy_inferred', false
       FROM generate_series(0, ${eventsASession - 1}) AS e, ${ofUnderlyings}`,
      `INSERT INTO flow_legs SELECT s.symbol, $1::text, ${id}, leg, 'O:' || s.symbol || '261218C00100000', 1.05, 100,
         10500 + e, 300 + leg, '{209}', ${at} + leg, e * 10 + leg, 'buy_inferred', false
       FROM generate_series(0, ${eventsASession - 1}) AS e, generate_series(0, ${legsAnEvent - 1}) AS leg, ${ofUnderlyings}`,
    ],
  };
}

const large = ['bar_blocks', 'gex_captures', 'chain_captures', 'flow_coverage', 'flow_events', 'flow_legs'];

/** Takes the indexes of a table away until `write` is done: made at once, they cost a tenth. */
async function withoutIndexes<T>({ pool }: Store, tables: readonly string[], write: () => Promise<T>): Promise<T> {
  const { rows: keys } = await pool.query(
    `SELECT conrelid::regclass AS of, conname AS name, pg_get_constraintdef(oid) AS made FROM pg_constraint
     WHERE contype = 'p' AND conrelid = ANY ($1::text[]::regclass[])`,
    [tables],
  );
  for (const key of keys) await pool.query(`ALTER TABLE ${key.of} DROP CONSTRAINT ${key.name}`);
  const { rows: indexes } = await pool.query(
    'SELECT indexname AS name, indexdef AS made FROM pg_indexes WHERE tablename = ANY ($1)',
    [tables],
  );
  for (const { name } of indexes) await pool.query(`DROP INDEX ${name}`);
  const written = await write();
  for (const key of keys) await pool.query(`ALTER TABLE ${key.of} ADD CONSTRAINT ${key.name} ${key.made}`);
  for (const { made } of indexes) await pool.query(made);
  return written;
}

async function saveRegistry(store: Store, { symbols, underlyings }: Size): Promise<void> {
  const entries = Array.from({ length: symbols }, (_, index) => ({
    symbol: symbolOf(index),
    name: `Company ${index}`,
    class: 'equity' as const,
    registered: true,
    windowDays: 60,
    tenorFrame: 'weekly' as const,
    minTier: 'free' as const,
    requiresAttestation: false,
    sector: index < underlyings ? `sector ${index % 11}` : null,
    instrumentType: 'common_equity' as const,
  }));
  await inTransaction(store, (tx) => saveSymbols(tx, entries));
}

/** Fills an empty store, session by session as a store grows; `log` gets a line now and then. */
export async function fill(store: Store, size: Size, sessionCount: number, log: (line: string) => void): Promise<void> {
  const sessions = sessionsOf(sessionCount);
  await saveRegistry(store, size);
  await prepareCopying(store, size, sessions);
  // The data can be made again: it need not outlive a crash.
  for (const table of large) await store.pool.query(`ALTER TABLE ${table} SET UNLOGGED`);
  const { bars, options } = await sessionStatements(store);
  const write = async (texts: readonly string[], what: string) => {
    const began = performance.now();
    for (const [nth, session] of sessions.entries()) {
      for (const text of texts)
        await store.pool.query(text, [session, exchangeInstant(session, 570), size.underlyings]);
      if (nth % 50 === 49)
        log(`${nth + 1} sessions of ${what} in ${((performance.now() - began) / 1000).toFixed(0)} s`);
    }
  };
  const flow = ['flow_events', 'flow_legs'];
  await Promise.all([write(bars, 'bars'), withoutIndexes(store, flow, () => write(options, 'options'))]);
  const daily = await columns(store, 'bar_blocks', { symbol: 's.symbol' });
  await store.pool.query(`INSERT INTO bar_blocks SELECT ${daily} FROM bench_bar_blocks AS t
    JOIN bench_symbols AS s ON s.nth % ${variants} = t.of WHERE t.timeframe = '1d'`);
  await store.pool.query(
    `INSERT INTO live_quotes SELECT symbol, $1, 100 + nth % 50, $2, 1000, 100 + nth % 7 FROM bench_symbols`,
    [lastSession, exchangeInstant(lastSession, 959)],
  );
  await store.pool.query('ANALYZE');
}
