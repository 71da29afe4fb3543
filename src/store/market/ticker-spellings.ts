// Upgrades stores of releases that stored several spellings of a ticker: `BRK-B`, `BRK/B` and `BRK B` beside `BRK.B`.
import type { BarColumns, StoredTimeframe } from '../../core/domain/market/bar.ts';
import { readTicker } from '../../core/domain/market/ticker.ts';
import { symbolColumn } from '../market-models.ts';
import type { Store } from '../rows/connection.ts';
import { lock } from '../rows/locks.ts';
import { type Model, tableOf } from '../rows/models/model-tables.ts';
import { deleteRows, findRows, upsertRows } from '../rows/models/sets.ts';
import { inTransaction, type Transaction } from '../rows/transaction.ts';
import { blockVersion } from '../series/codec.ts';
import { modelSubjects } from '../versions/subjects.ts';
import { lockAllBarBlocks, mergeBars, pickBars, stockBlockKey } from './bar-blocks.ts';
import { decodeBars, encodeBars } from './bar-codec.ts';
import { allSymbols, removeSymbols, saveSymbols } from './symbols.ts';

/** Rows that are replaced as a whole: if both spellings have a unit, the larger stays. */
interface Group {
  /** For each model, SQL for a row's contribution to the size of its unit. */
  sizes: Partial<Record<Model, string>>;
  /** Columns that identify a unit of a symbol; absent = rows are merged one by one, those of the ticker first. */
  unit?: readonly string[];
}

const groups: readonly Group[] = [
  {
    sizes: {
      FlowCoverage: '0',
      FlowEvent: '1',
      FlowFeedEntry: '0',
      FlowLeg: '1',
      CrossSection: '0',
      ContractMinuteBlock: '0',
    },
    unit: ['session_date'],
  },
  { sizes: { RankedPrint: '1', RankedSession: '0' }, unit: ['session_date', 'list'] },
  {
    sizes: {
      OffExchangeSession: 'coalesce(trade_count, 0)',
      OffExchangeComposition: '0',
      OffExchangeConcentration: '0',
      OffExchangeProfile: '0',
    },
    unit: ['session_date'],
  },
  { sizes: { ChainCapture: 'row_count', GexCapture: '0' }, unit: ['captured_at'] },
  { sizes: { OpenInterestBlock: 'count' }, unit: ['session_date'] },
  { sizes: { GreeksMinute: 'count', GreeksSlot: '0' }, unit: ['session_date'] },
  { sizes: { OptionBarBlock: 'count' }, unit: ['session_date', 'contract', 'timeframe'] },
  { sizes: { OptionQuoteBlock: 'count' }, unit: ['session_date', 'contract'] },
  { sizes: { LiveQuote: 'event_ts_ms' }, unit: ["'quote'"] },
  { sizes: { BarBlock: '0' } },
  { sizes: { SessionSeal: '0' } },
  { sizes: { Generation: '0' } },
  { sizes: { VolatilityDay: '0' } },
  { sizes: { TapeSession: 'prints' }, unit: ['session_date', 'dataset'] },
  { sizes: { TapeRemainder: 'prints' }, unit: ['session_date', 'dataset', 'version'] },
];

const modelsOf = ({ sizes }: Group) => Object.keys(sizes) as Model[];

const unitOf = (unit: readonly string[]) => `concat_ws(' ', ${unit.join(', ')})`;

// Counters of commits, which do not matter for the data.
const counters = ['seq', 'place'];

interface Unit {
  unit: string;
  /** Sizes under the other spelling and under the ticker; null = nothing is stored. */
  from: number | null;
  to: number | null;
}

async function unitsOf(tx: Transaction, group: Group, pair: [string, string]): Promise<Unit[]> {
  const parts = modelsOf(group).map((model) => {
    const symbol = symbolColumn(model);
    return `SELECT ${unitOf(group.unit!)} AS unit, ${symbol} AS symbol, (${group.sizes[model]})::float8 AS size
      FROM ${tableOf(model).table} WHERE ${symbol} IN ($1, $2)`;
  });
  const { rows } = await tx.query<Unit>(
    `SELECT unit, sum(size) FILTER (WHERE symbol = $1) AS "from", sum(size) FILTER (WHERE symbol = $2) AS "to"
     FROM (${parts.join(' UNION ALL ')}) AS sizes GROUP BY unit ORDER BY unit`,
    pair,
  );
  return rows;
}

/** The units that differ between the two spellings. */
async function differing(tx: Transaction, group: Group, pair: [string, string], units: readonly string[]) {
  const found = new Set<string>();
  for (const model of modelsOf(group)) {
    const symbol = symbolColumn(model);
    const row = `(to_jsonb(t) - '${symbol}' - '{${counters.join()}}'::text[])::text`;
    const { rows } = await tx.query<{ unit: string }>(
      `SELECT unit FROM (
         SELECT ${unitOf(group.unit!)} AS unit, ${symbol} AS symbol, md5(string_agg(${row}, ' ' ORDER BY ${row})) AS content
         FROM ${tableOf(model).table} AS t WHERE ${symbol} IN ($1, $2) AND ${unitOf(group.unit!)} = ANY($3)
         GROUP BY 1, 2) AS contents
       GROUP BY unit HAVING count(*) < 2 OR min(content) <> max(content)`,
      [...pair, units],
    );
    for (const { unit } of rows) found.add(unit);
  }
  return found;
}

async function deleteUnits(tx: Transaction, group: Group, symbol: string, units: readonly string[]): Promise<void> {
  if (units.length === 0) return;
  for (const model of modelsOf(group))
    await tx.query(
      `DELETE FROM ${tableOf(model).table} WHERE ${symbolColumn(model)} = $1 AND ${unitOf(group.unit!)} = ANY($2)`,
      [symbol, units],
    );
}

/** Moves rows of `from` to `to`; a row whose key exists there is deleted. */
async function rename(tx: Transaction, model: Model, [from, to]: [string, string]): Promise<void> {
  const { table, fields } = tableOf(model);
  const symbol = symbolColumn(model);
  const columns = fields.map(({ column }) => column);
  const { rowCount } = await tx.query(
    `INSERT INTO ${table} (${columns.join(', ')})
     SELECT ${columns.map((column) => (column === symbol ? '$2::text' : column)).join(', ')} FROM ${table}
     WHERE ${symbol} = $1 ON CONFLICT DO NOTHING`,
    [from, to],
  );
  const deleted = await tx.query(`DELETE FROM ${table} WHERE ${symbol} = $1`, [from]);
  const owner = modelSubjects[model];
  if (!owner || (rowCount ?? 0) + (deleted.rowCount ?? 0) === 0) return;
  for (const each of [from, to]) tx.changes.add(owner.subject, owner.symbol && each);
}

/** Merges bars: of two at one instant the one with more volume; all others of both. */
function largerBars(from: BarColumns, to: BarColumns): BarColumns {
  const at = new Map(Array.from(to.tsMs, (tsMs, i) => [tsMs, to.volume[i]!]));
  return mergeBars(
    to,
    pickBars(from, (i) => from.volume[i]! > (at.get(from.tsMs[i]!) ?? -1)),
  );
}

/** Merges blocks of bars that both spellings have. Returns those that differed. */
async function mergeBlocks(tx: Transaction, [from, to]: [string, string]): Promise<string[]> {
  await lockAllBarBlocks(tx);
  const fields = ['symbol', 'timeframe', 'spanStart', 'version', 'payload'] as const;
  const keys = await tx.prisma.barBlock.findMany({
    where: { symbol: from },
    select: { timeframe: true, spanStart: true },
    orderBy: [{ timeframe: 'asc' }, { spanStart: 'asc' }],
  });
  const differed: string[] = [];
  // One at a time, because a year of seconds is large.
  for (const key of keys) {
    const by = ['symbol', 'timeframe', 'spanStart'] as const;
    const rows = await findRows(tx, 'BarBlock', { by, keys: [from, to].map((symbol) => ({ symbol, ...key })) }, fields);
    const [other, own] = [from, to].map((symbol) => rows.find((row) => row.symbol === symbol));
    if (!other || !own) continue;
    await deleteRows(tx, 'BarBlock', { by, keys: [{ symbol: from, ...key }] });
    if (other.version === own.version) continue;
    differed.push(`bars ${key.timeframe} ${key.spanStart}`);
    const block = stockBlockKey(key.timeframe as StoredTimeframe, own);
    const bars = largerBars(decodeBars(other.payload, block), decodeBars(own.payload, block));
    const payload = Buffer.from(encodeBars(bars, block));
    const { length } = bars.tsMs;
    const range = { firstTsMs: bars.tsMs[0]!, lastTsMs: bars.tsMs[length - 1]!, count: length };
    await upsertRows(tx, 'BarBlock', [{ symbol: to, ...key, ...range, version: blockVersion(payload), payload }]);
  }
  return differed;
}

async function mergeGroup(tx: Transaction, group: Group, pair: [string, string]): Promise<string[]> {
  let differed: string[] = [];
  if (group.unit) {
    const both = (await unitsOf(tx, group, pair)).filter(({ from, to }) => from !== null && to !== null);
    const different =
      both.length > 0
        ? await differing(
            tx,
            group,
            pair,
            both.map(({ unit }) => unit),
          )
        : new Set();
    const isLarger = ({ from, to }: Unit) => from! > to!;
    const unitsWhere = (keep: (unit: Unit) => boolean) => both.filter(keep).map(({ unit }) => unit);
    await deleteUnits(tx, group, pair[1], unitsWhere(isLarger));
    await deleteUnits(
      tx,
      group,
      pair[0],
      unitsWhere((unit) => !isLarger(unit)),
    );
    const name = tableOf(modelsOf(group)[0]!).table;
    differed = unitsWhere(({ unit }) => different.has(unit)).map((unit) => `${name} ${unit}`);
  }
  for (const model of modelsOf(group)) await rename(tx, model, pair);
  return differed;
}

/** Merges two registry entries into one: the registered one, and of two such the ticker's own. */
async function mergeEntries(tx: Transaction, [from, to]: [string, string]): Promise<void> {
  const entries = new Map((await allSymbols(tx)).map((entry) => [entry.symbol, entry]));
  const [other, own] = [entries.get(from), entries.get(to)];
  if (!other) return;
  if (!own || (other.registered && !own.registered)) {
    const name = other.name === from ? to : other.name;
    await saveSymbols(tx, [{ ...other, symbol: to, name }]);
  }
  await removeSymbols(tx, [from]);
}

/** Merges data under another spelling into its ticker. Returns the parts stored under both that differed. */
async function mergeSpelling(tx: Transaction, spelling: string): Promise<string[]> {
  const pair: [string, string] = [spelling, readTicker(spelling)!];
  const differed = await mergeBlocks(tx, pair);
  for (const group of groups) differed.push(...(await mergeGroup(tx, group, pair)));
  await tx.query('UPDATE ranked_prints SET underlying = $2 WHERE underlying = $1', pair);
  await mergeEntries(tx, pair);
  // Files of this underlying, and those whose data may have been dropped, are no longer remembered.
  const dates = differed.flatMap((each) => /\d{4}-\d\d-\d\d/.exec(each)?.[0] ?? []);
  await tx.query(
    `DELETE FROM ingested_files
     WHERE sessions && $2 OR EXISTS (SELECT 1 FROM unnest(sessions) AS part WHERE split_part(part, ' ', 1) = $1)`,
    [spelling, dates],
  );
  return differed;
}

// Texts that `readTicker` parses to a different spelling.
const otherSpelling = '^[A-Z][A-Z0-9]{0,5}[-/ ][A-Z0-9]{1,3}$';

/** Spellings that differ from their ticker, in all market data. */
async function otherSpellings({ pool }: Store): Promise<string[]> {
  const parts = [...groups.flatMap(modelsOf), 'Symbol' as const].map((model) => {
    const symbol = model === 'Symbol' ? 'symbol' : symbolColumn(model);
    return `SELECT DISTINCT ${symbol} AS symbol FROM ${tableOf(model).table} WHERE ${symbol} ~ $1`;
  });
  const { rows } = await pool.query<{ symbol: string }>(`${parts.join(' UNION ')} ORDER BY symbol`, [otherSpelling]);
  return rows.map(({ symbol }) => symbol);
}

/** Replaces other spellings by tickers in data of accounts; the symbols of a watchlist are unique. */
async function respellOwned(tx: Transaction): Promise<void> {
  await tx.query(`UPDATE journal_trades SET symbol = regexp_replace(symbol, '[-/ ]', '.') WHERE symbol ~ $1`, [
    otherSpelling,
  ]);
  const { rows } = await tx.query<{ account_id: string; id: string; symbols: string[] }>(
    'SELECT account_id, id, symbols FROM watchlists WHERE EXISTS (SELECT 1 FROM unnest(symbols) AS s WHERE s ~ $1) FOR UPDATE',
    [otherSpelling],
  );
  for (const { account_id: accountId, id, symbols } of rows) {
    const unique = [...new Set(symbols.map((symbol) => readTicker(symbol) ?? symbol))];
    await tx.prisma.watchlist.update({ where: { accountId_id: { accountId, id } }, data: { symbols: unique } });
  }
}

/**
 * Merges all data under other spellings of a ticker into it: one transaction per ticker, so that a killed run can be
 * resumed. If both have the same session and it differs, the larger stays and `log` gets a line.
 */
export async function mergeTickerSpellings(store: Store, log: (line: string) => void): Promise<void> {
  for (const spelling of await otherSpellings(store)) {
    const differed = await inTransaction(store, async (tx) => {
      await lock(tx, 'symbols');
      return mergeSpelling(tx, spelling);
    });
    const kept = differed.length > 0 && `; stored under both and different, the larger kept: ${differed.join(', ')}`;
    log(`warning: what was stored as ${spelling} is now ${readTicker(spelling)}${kept || ''}`);
  }
  await inTransaction(store, respellOwned);
}
