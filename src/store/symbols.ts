import type { InstrumentType, SymbolClass, SymbolEntry, TenorFrame } from '../domain/symbol.ts';
import type { Tier } from '../domain/tier.ts';
import type { Store } from './connection.ts';
import { notify } from './notifications.ts';
import type { Transaction } from './transaction.ts';

/** The channel that is told when symbols changed. */
export const symbolsChannel = 'symbols';

const columns =
  'symbol, name, class, registered, window_days, tenor_frame, min_tier, requires_attestation, sector, instrument_type';

interface SymbolRow {
  symbol: string;
  name: string;
  class: SymbolClass;
  registered: boolean;
  window_days: number;
  tenor_frame: TenorFrame;
  min_tier: Tier;
  requires_attestation: boolean;
  sector: string | null;
  instrument_type: InstrumentType;
}

function entryOf(row: SymbolRow): SymbolEntry {
  return {
    symbol: row.symbol,
    name: row.name,
    class: row.class,
    registered: row.registered,
    windowDays: row.window_days,
    tenorFrame: row.tenor_frame,
    minTier: row.min_tier,
    requiresAttestation: row.requires_attestation,
    sector: row.sector,
    instrumentType: row.instrument_type,
  };
}

/** Every ticker known, registered or only in the directory, ascending. */
export async function allSymbols(store: Store): Promise<SymbolEntry[]> {
  const { rows } = await store.pool.query<SymbolRow>(`SELECT ${columns} FROM symbols ORDER BY symbol COLLATE "C"`);
  return rows.map(entryOf);
}

/** The registry's version: grows by one with every change to a symbol; 0 for an empty store. */
export async function symbolsVersion(target: Store | Transaction): Promise<number> {
  const connection = 'pool' in target ? target.pool : target;
  const { rows } = await connection.query<{ value: string }>({
    name: 'symbols-version',
    text: `SELECT value FROM store_facts WHERE key = 'symbols_version'`,
  });
  return Number(rows[0]?.value ?? 0);
}

async function insertSymbols(tx: Transaction, entries: readonly SymbolEntry[], onConflict: string): Promise<number> {
  // In one order, so that two writers do not wait for each other in a circle; of entries of one symbol the last counts.
  const bySymbol = [...new Map(entries.map((entry) => [entry.symbol, entry])).values()].sort((a, b) =>
    a.symbol < b.symbol ? -1 : 1,
  );
  if (bySymbol.length === 0) return 0;
  const { rowCount } = await tx.query(
    `INSERT INTO symbols (${columns})
     SELECT * FROM unnest($1::text[], $2::text[], $3::text[], $4::bool[], $5::int[], $6::text[], $7::text[], $8::bool[], $9::text[], $10::text[])
     ON CONFLICT (symbol) ${onConflict}`,
    [
      bySymbol.map((entry) => entry.symbol),
      bySymbol.map((entry) => entry.name),
      bySymbol.map((entry) => entry.class),
      bySymbol.map((entry) => entry.registered),
      bySymbol.map((entry) => entry.windowDays),
      bySymbol.map((entry) => entry.tenorFrame),
      bySymbol.map((entry) => entry.minTier),
      bySymbol.map((entry) => entry.requiresAttestation),
      bySymbol.map((entry) => entry.sector),
      bySymbol.map((entry) => entry.instrumentType),
    ],
  );
  const changed = rowCount ?? 0;
  if (changed === 0) return 0;
  await tx.query(
    `INSERT INTO store_facts (key, value) VALUES ('symbols_version', '1')
     ON CONFLICT (key) DO UPDATE SET value = (store_facts.value::int + 1)::text`,
  );
  await notify(tx, symbolsChannel, '');
  return changed;
}

const updated = columns.split(', ').slice(1);

/** Inserts or replaces symbols, inside the caller's transaction. Returns how many are new or different. */
export function saveSymbols(tx: Transaction, entries: readonly SymbolEntry[]): Promise<number> {
  const mine = updated.map((name) => `symbols.${name}`).join(', ');
  const theirs = updated.map((name) => `excluded.${name}`).join(', ');
  return insertSymbols(
    tx,
    entries,
    `DO UPDATE SET (${updated.join(', ')}) = ROW(${theirs}) WHERE (${mine}) IS DISTINCT FROM (${theirs})`,
  );
}

/** Enters tickers into the directory (not the registry) that are not known yet, so that a real ticker with data is never "not found". */
export function saveUnknownTickers(
  tx: Transaction,
  tickers: Iterable<string>,
  symbolClass: (ticker: string) => SymbolClass = () => 'equity',
): Promise<number> {
  const entries = [...tickers].map((symbol): SymbolEntry => {
    const kind = symbolClass(symbol);
    return {
      symbol,
      name: symbol,
      class: kind,
      registered: false,
      windowDays: 60,
      tenorFrame: 'weekly',
      minTier: 'free',
      requiresAttestation: false,
      sector: null,
      instrumentType: kind === 'index' ? 'index' : 'unknown',
    };
  });
  return insertSymbols(tx, entries, 'DO NOTHING');
}
