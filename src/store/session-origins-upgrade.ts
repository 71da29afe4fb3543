// Upgrades stores of releases without origins of sessions: data of the sample market is recognized by the names of its
// files.
import { exchangeDate, type SessionDate } from '../domain/market-time.ts';
import { bundledFile, sampleFile } from './account/sample-key.ts';
import { lockAllBarBlocks, pickBars } from './market/bar-blocks.ts';
import { decodeBars, encodeBars } from './market/bar-codec.ts';
import { markLive } from './market/session-origins.ts';
import { marketModels, symbolColumn } from './market-models.ts';
import type { Store } from './rows/connection.ts';
import { lock } from './rows/locks.ts';
import { hasOwnData, readMetadata } from './rows/metadata.ts';
import { type Model, tableOf } from './rows/models/model-tables.ts';
import type { Row } from './rows/models/row-values.ts';
import { findRows, upsertRows } from './rows/models/sets.ts';
import { inTransaction, type Transaction } from './rows/transaction.ts';
import { announceSample, markSample, sampleDataLock, sampleSetAside, setRowsAside } from './sample-data.ts';
import { blockVersion } from './series/block-version.ts';

type File = Pick<Row<'IngestedFile'>, 'dataset' | 'name' | 'parts'>;

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
      ...(['FlowCoverage', 'FlowEvent', 'FlowFeedEntry', 'FlowLeg', 'CrossSection'] as const),
      ...(['ContractMinuteBlock', 'RankedPrint'] as const),
      ...(['RankedSession', 'GreeksMinute', 'GreeksSlot', 'OptionBarBlock', 'OptionQuoteBlock'] as const),
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

/** Removes the bars of sessions from blocks of several sessions and sets them aside. */
async function setBarsAside(tx: Transaction, sessions: ReadonlySet<SessionDate>, symbols: readonly string[]) {
  const keys = await tx.prisma.barBlock.findMany({
    where: { symbol: { in: [...symbols] }, timeframe: { in: ['1h', '1d'] } },
    select: { symbol: true, timeframe: true, spanStart: true },
  });
  const by = ['symbol', 'timeframe', 'spanStart'] as const;
  for (const key of keys) {
    const [row] = await findRows(tx, 'BarBlock', { by, keys: [key] }, ['payload']);
    const bars = decodeBars(row!.payload);
    const isOfSample = (i: number) => sessions.has(exchangeDate(bars.tsMs[i]!));
    const count = [...bars.tsMs.keys()].filter(isOfSample).length;
    if (count === 0) continue;
    const write = async (kept: (i: number) => boolean) => {
      const some = pickBars(bars, kept);
      const payload = Buffer.from(encodeBars(some));
      const range = { firstTsMs: some.tsMs[0]!, lastTsMs: some.tsMs.at(-1)!, count: some.tsMs.length };
      await upsertRows(tx, 'BarBlock', [{ ...key, ...range, version: blockVersion(payload), payload }]);
    };
    if (count < bars.tsMs.length) await write(isOfSample);
    const condition = 't.symbol = $1 AND t.timeframe = $2 AND t.span_start = $3';
    await setRowsAside(tx, 'BarBlock', condition, [key.symbol, key.timeframe, key.spanStart]);
    if (count < bars.tsMs.length) await write((i) => !isOfSample(i));
  }
}

async function setFamiliesAside(tx: Transaction, files: readonly File[], followed: readonly SessionDate[]) {
  const [stocks, options] = families.map(({ datasets }) => sessionsOf(files, datasets, followed));
  await lockAllBarBlocks(tx);
  const oneSession = `t.timeframe NOT IN ('1h', '1d') AND t.span_start = ANY($1)`;
  const symbols = await setRowsAside(tx, 'BarBlock', oneSession, [stocks!.sample]);
  await setBarsAside(tx, new Set(stocks!.sample), symbols);
  for (const [i, { models, datasets }] of families.entries()) {
    const { sample } = [stocks!, options!][i]!;
    for (const model of models) await setRowsAside(tx, model, 't.session_date = ANY($1)', [sample]);
    const made = 't.session_date = ANY($1) AND t.dataset = ANY($2)';
    await setRowsAside(tx, 'Generation', made, [sample, datasets]);
  }
  const chains = files.filter(({ dataset, name }) => dataset === 'chain' && sampleFile.test(name));
  const captures = chains.flatMap(({ parts }) => parts);
  for (const model of ['ChainCapture', 'GexCapture'] as const)
    await setRowsAside(tx, model, `t.underlying || ' ' || t.captured_at = ANY($1)`, [captures]);
  const ofCaptures = `t.dataset = 'chain' AND t.symbol || ' ' || t.instant_ms = ANY($1)`;
  await setRowsAside(tx, 'Generation', ofCaptures, [captures]);
  const both = stocks!.sample.filter((session) => options!.sample.includes(session));
  await setRowsAside(tx, 'SessionSeal', 't.session_date = ANY($1)', [both]);
  // Other files of one of its sessions replaced the sample market's, whose data may still be there.
  const own = [...stocks!.sample, ...options!.sample].sort();
  const isWithin = (date: SessionDate) => date >= own[0]! && date <= own.at(-1)!;
  return own.length === 0 ? [] : [...new Set([...stocks!.others, ...options!.others])].filter(isWithin).sort();
}

/** Sets aside data that only the sample market stored; returns the sessions with other data too. */
async function setMixedAside(tx: Transaction): Promise<string[]> {
  await lock(tx, sampleDataLock);
  const files = await tx.prisma.ingestedFile.findMany({ select: { dataset: true, name: true, parts: true } });
  const lines = await tx.prisma.followedLines.findMany({
    select: { source: true, sessionDate: true },
    distinct: ['source', 'sessionDate'],
  });
  const others = new Set(lines.filter(({ source }) => source !== 'sample market').map((line) => line.sessionDate));
  const followed = lines.map(({ sessionDate }) => sessionDate).filter((session) => !others.has(session));
  const mixed = await setFamiliesAside(tx, files, followed);
  await announceSample(tx);
  return mixed;
}

/** Marks every stored symbol as simulated: there is only the sample market. */
async function markAll(tx: Transaction): Promise<void> {
  const symbols = new Set<string>();
  for (const model of marketModels.filter((each) => each !== 'SessionSeal')) {
    const { rows } = await tx.query<{ symbol: string }>(
      `SELECT DISTINCT ${symbolColumn(model)} AS symbol FROM ${tableOf(model).table}`,
    );
    for (const { symbol } of rows) symbols.add(symbol);
  }
  await markSample(tx, [...symbols]);
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

/**
 * Assigns the sessions of an older release's store their origin: sample for those whose files are all the sample
 * market's, files or live for the others. If there are both, the sample market's are set aside.
 */
export async function upgradeOrigins(store: Store, log: (line: string) => void): Promise<void> {
  const mixed = await inTransaction(store, async (tx): Promise<string[] | null> => {
    const names = await tx.prisma.ingestedFile.findMany({ select: { name: true }, distinct: ['name'] });
    const hasSample = (await readMetadata(tx, 'sample')) !== null || names.some(({ name }) => sampleFile.test(name));
    const isOwn = (await hasOwnData(tx)) || names.some(({ name }) => !bundledFile.test(name));
    if (hasSample && !isOwn) {
      await markAll(tx);
      return null;
    }
    const found = hasSample ? await setMixedAside(tx) : null;
    await markObserved(tx);
    return found;
  });
  if (mixed === null) return;
  log(`warning: ${sampleSetAside}`);
  if (mixed.length > 0)
    log(`warning: sessions of which other files were stored too are taken for real: ${mixed.join(', ')}`);
}
