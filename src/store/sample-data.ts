// Data of the sample market. Other data replaces it: its rows are moved to a table that nothing reads, in the
// transaction that stores the first of the other data.

import { raiseRegistryVersion } from './market/registry-version.ts';
import { everySession, sampleOrigin, simulatedSymbols } from './market/session-origins.ts';
import { marketModels, symbolColumn } from './market-models.ts';
import type { Store } from './rows/connection.ts';
import { lock, lockShared } from './rows/locks.ts';
import { hasOwnData, readMetadata, saveOwnData, writeMetadata } from './rows/metadata.ts';
import { anyOf } from './rows/models/any-of.ts';
import { type Model, tableOf } from './rows/models/model-tables.ts';
import { insertRows } from './rows/models/sets.ts';
import type { Reader } from './rows/reader.ts';
import { inTransaction, type Transaction } from './rows/transaction.ts';
import { removeSuperseded } from './superseded/prune.ts';
import { modelSubjects } from './versions/subjects.ts';

/** Metadata key of the sample market in the store. */
const sampleFact = 'sample';
const keepFact = 'keep_sample';
/** Lock that writers of the sample market's data share, and that is exclusive for ending it. */
export const sampleDataLock = 'sample data';
/** Placeholder for the lists over all symbols. */
const everySymbol = '*';

/** The log line when the sample market's data is set aside. */
export const sampleSetAside =
  'other data is stored: the sample market’s is not served any more; tapegraph sample remove deletes it, --keep-sample serves it again';
/** The log line when it stays beside other data. */
export const sampleKept =
  'other data is stored beside the sample market’s, which is marked as simulated; tapegraph sample remove deletes it';

/** The log line when the sample market's data of some symbols is set aside. */
export const replacedText = (symbols: readonly string[]) =>
  `the sample market’s data of ${symbols.filter((symbol) => symbol !== everySymbol).join(', ') || 'end-of-day lists'} is not served any more`;

/** Thrown when other data is stored, so that the sample market must store nothing more. */
export class SampleEnded extends Error {
  override readonly name = 'SampleEnded';

  constructor() {
    super('the store holds other data: the sample market stores nothing more');
  }
}

/** Thrown when other data was written to symbols of the sample market: these must be set aside first. */
export class ReplacesSample extends Error {
  override readonly name = 'ReplacesSample';
  readonly symbols: readonly string[];

  constructor(symbols: readonly string[]) {
    super(`the sample market’s ${symbols.join(', ')} has to be set aside first`);
    this.symbols = symbols;
  }
}

/** True if the sample market is served beside other data. */
export async function keepsSample(from: Pick<Reader, 'prisma'>): Promise<boolean> {
  return (await readMetadata(from, keepFact)) !== null;
}

/** Symbols of a transaction's writes so far. */
export function writtenSymbols({ changes }: Transaction): string[] {
  return [...new Set(Object.values(changes.change() ?? {}).flatMap((symbols) => symbols ?? []))];
}

/**
 * Begins a write of the sample market: other data waits until it is committed. Throws `SampleEnded` if there is other
 * data.
 */
export async function beginSampleWrite(tx: Transaction): Promise<void> {
  await lockShared(tx, sampleDataLock);
  if (await hasOwnData(tx)) throw new SampleEnded();
}

/** Marks the symbols written by a transaction of the sample market. */
export async function markSample(tx: Transaction, symbols: readonly string[] = writtenSymbols(tx)): Promise<void> {
  const rows = symbols.map((symbol) => ({ symbol, sessionDate: everySession, origin: sampleOrigin }));
  await insertRows(tx, 'SessionOrigin', rows);
}

/**
 * Throws `ReplacesSample` if the transaction wrote other data to symbols of a sample market that is served beside it:
 * the prices of a symbol are either all simulated or all real.
 */
export async function rejectMixture(tx: Transaction): Promise<void> {
  const simulated = new Set(await simulatedSymbols(tx));
  const mixed = writtenSymbols(tx).filter((symbol) => simulated.has(symbol));
  if (mixed.length > 0) throw new ReplacesSample(mixed);
}

/** Runs work that stores other data; runs it again once it is known which symbols of the sample market it replaces. */
export async function replacingSample<T>(work: (replaced: readonly string[]) => Promise<T>): Promise<T> {
  const replaced: string[] = [];
  for (;;) {
    try {
      return await work(replaced);
    } catch (error) {
      const isNew = error instanceof ReplacesSample && error.symbols.some((symbol) => !replaced.includes(symbol));
      if (!isNew) throw error;
      replaced.push(...error.symbols);
    }
  }
}

const columnsOf = (model: Model) => tableOf(model).fields.map(({ column }) => column);

/** SQL for the key of a row among the rows that are set aside. */
function rowKey(model: Model): string {
  const id = tableOf(model).indexes.find(({ kind }) => kind === 'id')!;
  return `concat_ws(' ', ${id.columns.map(({ column }) => `t.${column}`).join(', ')})`;
}

function noteRows(tx: Transaction, model: Model, symbols: readonly string[]): void {
  const owner = modelSubjects[model];
  for (const symbol of symbols) if (owner) tx.changes.add(owner.subject, symbol);
}

/** Sets aside the rows that match a condition on `t`. Returns their symbols. */
export async function setRowsAside(
  tx: Transaction,
  model: Model,
  condition: string,
  parameters: readonly unknown[],
): Promise<string[]> {
  const { table } = tableOf(model);
  const { rows } = await tx.query<{ symbol: string }>(
    `SELECT DISTINCT t.${symbolColumn(model)} AS symbol FROM ${table} AS t WHERE ${condition}`,
    [...parameters],
  );
  const symbols = rows.map(({ symbol }) => symbol);
  if (symbols.length === 0) return symbols;
  await tx.query(
    `INSERT INTO sample_rows (table_name, row_key, symbol, row)
     SELECT '${table}', ${rowKey(model)}, t.${symbolColumn(model)}, to_jsonb(t) FROM ${table} AS t WHERE ${condition}
     ON CONFLICT (table_name, row_key) DO UPDATE SET row = excluded.row`,
    [...parameters],
  );
  await tx.query(`DELETE FROM ${table} AS t WHERE ${condition}`, [...parameters]);
  noteRows(tx, model, symbols);
  return symbols;
}

/** Makes every process read the simulated symbols again. */
export async function announceSample(tx: Transaction): Promise<void> {
  await raiseRegistryVersion(tx);
  tx.changes.add('registry', null);
}

/** Sets aside the sample market's data of these symbols, or all of it. Returns the symbols that had some. */
export async function setSampleAside(tx: Transaction, of: readonly string[] | null = null): Promise<string[]> {
  const symbols = (await simulatedSymbols(tx)).filter((symbol) => of === null || of.includes(symbol));
  if (symbols.length === 0) return [];
  for (const model of marketModels) await setRowsAside(tx, model, `t.${symbolColumn(model)} = ANY($1)`, [symbols]);
  await removeSuperseded(tx, symbols);
  if (of === null) {
    // Seals of whole sessions were set on the sample market's data.
    await setRowsAside(tx, 'SessionSeal', 't.symbol = $1', [everySymbol]);
  }
  await tx.prisma.sessionOrigin.deleteMany({ where: { symbol: anyOf(symbols), origin: sampleOrigin } });
  await announceSample(tx);
  return symbols;
}

/** The symbols with served data. */
async function servedSymbols(tx: Transaction, symbols: readonly string[]): Promise<Set<string>> {
  const served = new Set<string>();
  for (const model of marketModels) {
    const column = symbolColumn(model);
    const { rows } = await tx.query<{ symbol: string }>(
      `SELECT DISTINCT ${column} AS symbol FROM ${tableOf(model).table} WHERE ${column} = ANY($1)`,
      [symbols],
    );
    for (const { symbol } of rows) served.add(symbol);
  }
  return served;
}

/** Serves data set aside again, for symbols without other data. Returns these symbols. */
export async function restoreSample(tx: Transaction): Promise<string[]> {
  const aside = (await tx.prisma.sampleRow.groupBy({ by: ['symbol'] })).map(({ symbol }) => symbol);
  const served = await servedSymbols(tx, aside);
  const symbols = aside.filter((symbol) => !served.has(symbol)).sort();
  if (symbols.length === 0) return [];
  for (const model of marketModels) {
    const { table } = tableOf(model);
    const columns = columnsOf(model).join(', ');
    const { rowCount } = await tx.query(
      `INSERT INTO ${table} (${columns}) SELECT ${columnsOf(model)
        .map((column) => `r.${column}`)
        .join(', ')}
       FROM sample_rows AS s, jsonb_populate_record(NULL::${table}, s.row) AS r
       WHERE s.table_name = '${table}' AND s.symbol = ANY($1) ON CONFLICT DO NOTHING`,
      [symbols],
    );
    if (rowCount) noteRows(tx, model, symbols);
  }
  await tx.prisma.sampleRow.deleteMany({ where: { symbol: anyOf(symbols) } });
  await markSample(tx, symbols);
  await announceSample(tx);
  return symbols;
}

/**
 * Deletes the sample market's rates and roots: they have no symbol, and other data must not be priced with them. Until
 * other data is stored, the store has no others.
 */
async function dropSimulatedTerms(tx: Transaction): Promise<void> {
  if ((await readMetadata(tx, sampleFact)) === null) return;
  await tx.prisma.rate.deleteMany({});
  await tx.prisma.optionRoot.deleteMany({});
  await tx.prisma.generation.deleteMany({ where: { dataset: anyOf(['rates', 'roots']) } });
  tx.changes.add('corporate', null);
  await announceSample(tx);
}

/**
 * Records, before it is stored, that the store gets other data. The first time, the sample market's is set aside,
 * unless it is kept. Returns whether it is the first time, and the symbols of the sample market that were set aside and
 * kept.
 */
export async function beginOwnData(
  tx: Transaction,
  nowMs: number,
  replaced: readonly string[],
): Promise<{ isFirst: boolean; aside: string[]; kept: string[] }> {
  let isFirst = !(await hasOwnData(tx));
  if (isFirst) {
    // Waits for writers of the sample market; later ones find the record.
    await lock(tx, sampleDataLock);
    isFirst = !(await hasOwnData(tx));
  }
  if (isFirst) {
    await dropSimulatedTerms(tx);
    await saveOwnData(tx, nowMs);
  }
  const endsSample = isFirst && !(await keepsSample(tx));
  if (isFirst && !endsSample) await announceSample(tx);
  const aside = endsSample || replaced.length > 0 ? await setSampleAside(tx, endsSample ? null : replaced) : [];
  const kept = isFirst || aside.length > 0 ? await simulatedSymbols(tx) : [];
  return { isFirst, aside, kept };
}

/** Serves the sample market beside other data, from now on. Data set aside is served again. Returns its symbols. */
export function keepSample(store: Store): Promise<string[]> {
  return inTransaction(store, async (tx) => {
    await lock(tx, sampleDataLock);
    if (!(await keepsSample(tx))) await writeMetadata(tx, keepFact, 'true');
    return restoreSample(tx);
  });
}

/** The stored data of the sample market. */
export interface StoredSample {
  /** Symbols with served data, and number of rows that are set aside. */
  served: string[];
  aside: number;
  /** Number of rows by table, served or set aside. */
  rows: Record<string, number>;
}

/** Counts the stored data of the sample market. */
export async function storedSample(from: Pick<Reader, 'prisma' | 'query'>): Promise<StoredSample> {
  const served = await simulatedSymbols(from);
  const { rows: aside } = await from.query<{ table: string; count: number }>(
    'SELECT table_name AS table, count(*)::int AS count FROM sample_rows GROUP BY table_name',
  );
  const rows: Record<string, number> = {};
  for (const { table, count } of aside) rows[table] = count;
  for (const model of served.length > 0 ? marketModels : []) {
    const { table } = tableOf(model);
    const { rows: counted } = await from.query<{ count: number }>(
      `SELECT count(*)::int AS count FROM ${table} WHERE ${symbolColumn(model)} = ANY($1)`,
      [served],
    );
    const count = (rows[table] ?? 0) + counted[0]!.count;
    if (count > 0) rows[table] = count;
  }
  return { served, aside: aside.reduce((sum, { count }) => sum + count, 0), rows };
}

/** The note on the sample market in a store with other data; null = nothing of it is stored. */
export async function sampleNote(from: Pick<Reader, 'prisma'>): Promise<string | null> {
  if (!(await hasOwnData(from))) return null;
  if ((await simulatedSymbols(from)).length > 0) return sampleKept;
  return (await from.prisma.sampleRow.findFirst({ select: { key: true } })) === null ? null : sampleSetAside;
}

/** Deletes the sample market's data; other data is unchanged. */
export async function removeSample(tx: Transaction): Promise<void> {
  await lock(tx, sampleDataLock);
  const symbols = await simulatedSymbols(tx);
  if (!(await hasOwnData(tx))) await dropSimulatedTerms(tx);
  for (const model of marketModels) {
    const { rowCount } = await tx.query(`DELETE FROM ${tableOf(model).table} WHERE ${symbolColumn(model)} = ANY($1)`, [
      symbols,
    ]);
    if (rowCount) noteRows(tx, model, symbols);
  }
  await removeSuperseded(tx, symbols);
  await tx.prisma.sessionOrigin.deleteMany({ where: { origin: sampleOrigin } });
  await tx.prisma.sampleRow.deleteMany({});
  await tx.query(`DELETE FROM ingested_files WHERE name ~ $1`, [String.raw`[\\/]sample[\\/][a-z-]+[\\/].*\.csv\.gz$`]);
  await tx.query(`DELETE FROM followed_lines WHERE source = 'sample market'`);
  await tx.prisma.metadataEntry.deleteMany({
    where: { key: { in: [sampleFact, 'followed sample market', keepFact] } },
  });
  await announceSample(tx);
}
