// Upgrades stores of earlier releases, which could hold the sample market and other data. Other data wins: simulated
// sessions are deleted by their origin, or, in stores of before there were origins, by the names of their files.
import type { StoredTimeframe } from '../core/domain/market/bar.ts';
import { exchangeDate, type SessionDate } from '../core/domain/market-time.ts';
import { lockAllBarBlocks, pickBars, stockBlockKey } from './market/bar-blocks.ts';
import { decodeBars, encodeBars } from './market/bar-codec.ts';
import { every, markLive, saveStoreOrigin, storeOrigin } from './market/session-origins.ts';
import { symbolColumn, symbolModels } from './market-models.ts';
import { holdsMarketData, originLock, sampleFact, sampleTape } from './origin.ts';
import type { Store } from './rows/connection.ts';
import { lock } from './rows/locks.ts';
import { readMetadata } from './rows/metadata.ts';
import { anyOf } from './rows/models/any-of.ts';
import { isKept, supersededTable } from './rows/models/kept-models.ts';
import { type Model, tableOf } from './rows/models/model-tables.ts';
import type { Row } from './rows/models/row-values.ts';
import { findRows, upsertRows } from './rows/models/sets.ts';
import { inTransaction, type Transaction } from './rows/transaction.ts';
import { blockVersion } from './series/codec.ts';

type File = Pick<Row<'IngestedFile'>, 'dataset' | 'name' | 'parts'>;

// Paths of files of the sample market, and of the starter registry, as earlier releases stored them.
const sampleFile = /[\\/]sample[\\/][a-z-]+([\\/][^\\/]+){1,2}\.csv\.gz$/;
const starterFile = /[\\/]starter-registry\.csv$/;

/** Tables whose rows are from files of these datasets, and their session column. */
const families: readonly { datasets: readonly string[]; models: readonly Model[] }[] = [
  {
    datasets: ['stock-day-bars', 'stock-minute-bars', 'stock-trades'],
    models: [
      'LiveQuote',
      'OffExchangeSession',
      'OffExchangeComposition',
      'OffExchangeConcentration',
      'OffExchangeProfile',
    ],
  },
  {
    datasets: ['option-minute-bars', 'option-trades', 'option-quotes', 'open-interest'],
    models: [
      'FlowCoverage',
      'FlowEvent',
      'FlowFeedEntry',
      'FlowLeg',
      'CrossSection',
      'ContractMinuteBlock',
      'RankedPrint',
      'RankedSession',
      'GreeksMinute',
      'GreeksSlot',
      'OptionBarBlock',
      'OptionQuoteBlock',
      'OpenInterestBlock',
    ],
  },
];

/** The sessions of datasets whose current files are all the sample market's, and those with some others. */
function sessionsOf(files: readonly File[], datasets: readonly string[], followed: readonly SessionDate[]) {
  const sample = new Set(followed);
  const others = new Set<SessionDate>();
  for (const { dataset, name, parts } of files)
    if (datasets.includes(dataset)) for (const part of parts) (sampleFile.test(name) ? sample : others).add(part);
  return {
    sample: [...sample].filter((session) => !others.has(session)),
    others: [...others],
  };
}

/** Deletes the sample market's data of a store that holds other data, and counts it. */
class SampleRemoval {
  readonly #tx: Transaction;
  /** Number of deleted rows by table. */
  readonly deleted = new Map<string, number>();

  constructor(tx: Transaction) {
    this.#tx = tx;
  }

  count(table: string, rows: number): void {
    if (rows > 0) this.deleted.set(table, (this.deleted.get(table) ?? 0) + rows);
  }

  /** Deletes the rows of a model that match a condition on `t`. */
  async rows(model: Model, condition: string, parameters: readonly unknown[]): Promise<void> {
    const { table } = tableOf(model);
    const { rowCount } = await this.#tx.query(`DELETE FROM ${table} AS t WHERE ${condition}`, [...parameters]);
    this.count(table, rowCount ?? 0);
  }

  /** Deletes what is marked as the sample market's, and what was superseded of it. */
  async marked(): Promise<void> {
    const where = { origin: 'sample', sessionDate: every };
    const rows = await this.#tx.prisma.sessionOrigin.findMany({ where, select: { symbol: true } });
    const symbols = rows.map(({ symbol }) => symbol);
    for (const model of symbols.length === 0 ? [] : symbolModels) {
      const ofSymbols = `${symbolColumn(model)} = ANY($1)`;
      await this.rows(model, `t.${ofSymbols}`, [symbols]);
      if (isKept(model)) await this.#tx.query(`DELETE FROM ${supersededTable(model)} WHERE ${ofSymbols}`, [symbols]);
    }
  }

  /** Deletes the bars of sessions in blocks of several sessions. */
  async #bars(sessions: ReadonlySet<SessionDate>): Promise<void> {
    const tx = this.#tx;
    const keys = await tx.prisma.barBlock.findMany({
      where: { timeframe: { in: ['1h', '1d'] } },
      select: { symbol: true, timeframe: true, spanStart: true },
    });
    const by = ['symbol', 'timeframe', 'spanStart'] as const;
    for (const key of keys) {
      const [row] = await findRows(tx, 'BarBlock', { by, keys: [key] }, ['payload']);
      const block = stockBlockKey(key.timeframe as StoredTimeframe, key);
      const bars = decodeBars(row!.payload, block);
      const own = pickBars(bars, (i) => !sessions.has(exchangeDate(bars.tsMs[i]!)));
      const count = own.tsMs.length;
      if (count === bars.tsMs.length) continue;
      const condition = 't.symbol = $1 AND t.timeframe = $2 AND t.span_start = $3';
      await this.rows('BarBlock', condition, [key.symbol, key.timeframe, key.spanStart]);
      if (count === 0) continue;
      const payload = Buffer.from(encodeBars(own, block));
      const range = { firstTsMs: own.tsMs[0]!, lastTsMs: own.tsMs.at(-1)!, count };
      await upsertRows(tx, 'BarBlock', [{ ...key, ...range, version: blockVersion(payload), payload }]);
    }
  }

  /** Deletes the sessions of which all files are the sample market's. Returns those that also have other files. */
  async byFiles(files: readonly File[], followed: readonly SessionDate[]): Promise<SessionDate[]> {
    const [stocks, options] = families.map(({ datasets }) => sessionsOf(files, datasets, followed));
    await lockAllBarBlocks(this.#tx);
    await this.rows('BarBlock', `t.timeframe NOT IN ('1h', '1d') AND t.span_start = ANY($1)`, [stocks!.sample]);
    await this.#bars(new Set(stocks!.sample));
    for (const [i, { models, datasets }] of families.entries()) {
      const { sample } = [stocks!, options!][i]!;
      for (const model of models) await this.rows(model, 't.session_date = ANY($1)', [sample]);
      await this.rows('Generation', 't.session_date = ANY($1) AND t.dataset = ANY($2)', [sample, datasets]);
    }
    const chains = files.filter(({ dataset, name }) => dataset === 'chain' && sampleFile.test(name));
    const captures = chains.flatMap(({ parts }) => parts);
    for (const model of ['ChainCapture', 'GexCapture'] as const)
      await this.rows(model, `t.underlying || ' ' || t.captured_at = ANY($1)`, [captures]);
    const ofCaptures = `t.dataset = 'chain' AND t.symbol || ' ' || t.instant_ms = ANY($1)`;
    await this.rows('Generation', ofCaptures, [captures]);
    const both = stocks!.sample.filter((session) => options!.sample.includes(session));
    await this.rows('SessionSeal', 't.session_date = ANY($1)', [both]);
    // Other files of one of its sessions replaced the sample market's, whose data may still be there.
    const own = [...stocks!.sample, ...options!.sample].sort();
    const isWithin = (date: SessionDate) => date >= own[0]! && date <= own.at(-1)!;
    return own.length === 0 ? [] : [...new Set([...stocks!.others, ...options!.others])].filter(isWithin).sort();
  }
}

/** Deletes what only the sample market stored, by the names of files. Returns the sessions with other data too. */
async function removeUnmarked(tx: Transaction, removal: SampleRemoval, hasSample: boolean): Promise<SessionDate[]> {
  if (!hasSample) return [];
  const files = await tx.prisma.ingestedFile.findMany({ select: { dataset: true, name: true, parts: true } });
  const lines = await tx.prisma.followedLines.findMany({
    select: { source: true, sessionDate: true },
    distinct: ['source', 'sessionDate'],
  });
  const others = new Set(lines.filter(({ source }) => source !== sampleTape).map((line) => line.sessionDate));
  const followed = lines.map(({ sessionDate }) => sessionDate).filter((session) => !others.has(session));
  return removal.byFiles(files, followed);
}

/** Marks sessions that were observed live and not replaced by a file. */
async function markObserved(tx: Transaction): Promise<void> {
  // Read one by one: a distributed store cannot join a table by symbol with one of files.
  const flow = await tx.prisma.flowCoverage.findMany({
    where: { status: 'observed_live' },
    select: { underlying: true, sessionDate: true },
  });
  const quotes = await tx.prisma.liveQuote.findMany({ select: { symbol: true, sessionDate: true } });
  const files = await tx.prisma.ingestedFile.findMany({
    where: { dataset: { startsWith: 'stock-' } },
    select: { parts: true },
  });
  const ofFiles = new Set(files.flatMap(({ parts }) => parts));
  await markLive(tx, [
    ...flow.map(({ underlying, sessionDate }) => ({ symbol: underlying, sessionDate })),
    ...quotes.filter(({ sessionDate }) => !ofFiles.has(sessionDate)),
  ]);
}

/** Data that an upgraded store has lost. */
interface Upgraded {
  deleted: Map<string, number>;
  /** Sessions of which other files were stored too, in stores of before there were origins. */
  mixed: SessionDate[];
}

/** Deletes the sample market's data in a store that holds other data. */
async function keepOwn(tx: Transaction, hasSample: boolean): Promise<Upgraded> {
  const removal = new SampleRemoval(tx);
  // Written by the migration that dropped the table.
  const aside = JSON.parse((await readMetadata(tx, 'sample_rows')) ?? '{}') as Record<string, number>;
  for (const [table, rows] of Object.entries(aside)) removal.count(table, rows);
  const isMarked = (await readMetadata(tx, 'session_origins')) !== null;
  const mixed = isMarked ? [] : await removeUnmarked(tx, removal, hasSample);
  if (isMarked) await removal.marked();
  else await markObserved(tx);
  const names = await tx.prisma.ingestedFile.findMany({ select: { name: true }, distinct: ['name'] });
  const own = names.map(({ name }) => name).filter((name) => sampleFile.test(name));
  await tx.prisma.ingestedFile.deleteMany({ where: { name: anyOf(own) } });
  await tx.prisma.followedLines.deleteMany({ where: { source: sampleTape } });
  await tx.prisma.metadataEntry.deleteMany({ where: { key: { in: [sampleFact, `followed ${sampleTape}`] } } });
  return { deleted: removal.deleted, mixed };
}

/**
 * Gives the store of an earlier release its origin. Of one that holds the sample market and other data, only the other
 * data stays: the number of deleted rows is logged by table.
 */
export async function upgradeOrigin(store: Store, log: (line: string) => void): Promise<void> {
  const { deleted, mixed } = await inTransaction(store, async (tx): Promise<Upgraded> => {
    await lock(tx, originLock);
    const nothing: Upgraded = { deleted: new Map(), mixed: [] };
    const origin = await storeOrigin(tx);
    // Earlier releases marked every symbol of the sample market, and * for lists over all of them.
    const marks = await tx.prisma.sessionOrigin.count({ where: { origin: 'sample' } });
    if (origin === 'own' || (origin === 'sample' && marks === 1)) return nothing;
    const names = await tx.prisma.ingestedFile.findMany({ select: { name: true }, distinct: ['name'] });
    const hasSample = (await readMetadata(tx, sampleFact)) !== null || names.some(({ name }) => sampleFile.test(name));
    const isOther = ({ name }: { name: string }) => !sampleFile.test(name) && !starterFile.test(name);
    const isOwn =
      (await readMetadata(tx, 'own_data')) !== null ||
      names.some(isOther) ||
      (!hasSample && (await holdsMarketData(tx)));
    const upgraded = isOwn ? await keepOwn(tx, hasSample) : nothing;
    await tx.prisma.sessionOrigin.deleteMany({ where: { origin: 'sample' } });
    if (isOwn || hasSample) await saveStoreOrigin(tx, isOwn ? 'own' : 'sample');
    const obsolete = ['own_data', 'keep_sample', 'sample_rows', 'session_origins'];
    await tx.prisma.metadataEntry.deleteMany({ where: { key: { in: obsolete } } });
    if (upgraded.deleted.size > 0) tx.changes.addAll();
    return upgraded;
  });
  const counts = [...deleted].sort(([a], [b]) => (a < b ? -1 : 1)).map(([table, rows]) => `${table} ${rows}`);
  if (counts.length > 0)
    log(`warning: other data is stored: the sample market’s was deleted, number of rows: ${counts.join(', ')}`);
  if (mixed.length > 0)
    log(`warning: sessions of which other files were stored too are taken for real: ${mixed.join(', ')}`);
}
