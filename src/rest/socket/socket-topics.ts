import { execute, type GraphQLSchema } from 'graphql';
import protobuf from 'protobufjs';
import { chainColumns } from '../../core/domain/chain/chain-columns.ts';
import { type Columns, restTypes } from '../../core/domain/columns.ts';
import { strikeColumns } from '../../core/domain/gex/gex-columns.ts';
import { type Timeframe, timeframeMs } from '../../core/domain/market/bar.ts';
import { epochDay } from '../../core/domain/market-time.ts';
import type { LiveAnswers } from '../../graphql/execution/live-answers.ts';
import { invalidParameter, notFound, renamedParameter } from '../../platform/wire/failure.ts';
import { failureOf, type ReadOperation, readOperation } from '../contract/operation.ts';
import { type ContractIdentity, needsRoots } from '../contract/option-roots.ts';
import type { ScopeGroup } from '../contract/route.ts';
import { type Following, followTopic } from '../stream/follow-topic.ts';
import { type AskedSubscription, int32, known, type SocketTopic, scaled, type Update, uint32 } from './control.ts';

/** Converts the events of a subscription to updates, depending on what was sent before. */
interface Updates<T = unknown> {
  of(data: T): Update[];
  /** Updates that are due by time alone. */
  due(nowMs: number): Update[];
}

const nothingDue = () => [];

interface QuoteData {
  spot: number | null;
  event_ts_ms: number | null;
}

/** Prices in the order of arrival; a quote with only a changed volume has none. */
function priceUpdates(
  write: (tsMs: number | undefined, scaledPrice: number | undefined) => Update,
): Updates<QuoteData> {
  let sent: QuoteData | null = null;
  return {
    of(quote) {
      const { spot, event_ts_ms: tsMs } = quote;
      const isSent = sent?.spot === spot && sent.event_ts_ms === tsMs;
      if (spot === null || isSent) return [];
      sent = quote;
      return [write(known(tsMs), scaled(spot))];
    },
    due: nothingDue,
  };
}

/** Prices as `spot`. */
const spotUpdates = () => priceUpdates((tsMs, priceScaled) => ({ spot: { tsMs, priceScaled } }));

/** Prices of an index as `index_value`. */
const indexUpdates = () => priceUpdates((tsMs, valueScaled) => ({ indexValue: { tsMs, valueScaled } }));

interface BarData {
  ts_ms: number;
  open: number;
  high: number;
  low: number;
  close: number;
  volume: number;
}

/** Late trades of a bar arrive within this time of its end, ms. */
const settlingMs = 2000;

const closeOf = ({ ts_ms: tsMs, open, high, low, close, volume }: BarData): Update => ({
  barClose: {
    tsMs,
    openScaled: scaled(open),
    highScaled: scaled(high),
    lowScaled: scaled(low),
    closeScaled: scaled(close),
    volume: uint32(volume),
  },
});

/** Bars: `bar_open` when one begins, `bar_close` when it is complete, and again when it changes after that. */
function barUpdates(timeframe: Timeframe, now: () => number): Updates<BarData> {
  let open: BarData | null = null;
  const endOf = ({ ts_ms: tsMs }: BarData) => tsMs + timeframeMs[timeframe];
  const take = (): Update[] => {
    const closed = open;
    open = null;
    return closed ? [closeOf(closed)] : [];
  };
  return {
    of(bar) {
      if (open && bar.ts_ms < open.ts_ms) return [closeOf(bar)];
      const before = open && bar.ts_ms > open.ts_ms ? take() : [];
      if (endOf(bar) + settlingMs <= now()) {
        open = null;
        return [...before, closeOf(bar)];
      }
      const isNew = open === null;
      open = bar;
      return isNew ? [...before, { barOpen: { tsMs: bar.ts_ms, openScaled: scaled(bar.open) } }] : before;
    },
    due: (nowMs) => (open && endOf(open) + settlingMs <= nowMs ? take() : []),
  };
}

/** Sent rows by key, each with the text that is compared. */
type Sent = ReadonlyMap<string, string>;

/** The rows that differ from those sent before; null if all must be sent, because some were removed. */
function changedRows<T>(before: Sent | null, now: Sent, rows: ReadonlyMap<string, T>): T[] | null {
  if (before === null || [...before.keys()].some((key) => !now.has(key))) return null;
  return [...rows].flatMap(([key, row]) => (before.get(key) === now.get(key) ? [] : [row]));
}

/** Numbers of a row by their names in REST. */
type Numbers = Readonly<Record<string, number | null>>;

/** The form of rows in frames, where whole numbers are int32, and in comparisons with those sent before. */
function frameNumbers(columns: Columns) {
  const types = Object.entries(restTypes(columns));
  const fields = types.map(([name, type]) => [protobuf.util.camelCase(name), name, type === 'float64'] as const);
  return {
    fieldsOf: (row: Numbers) =>
      Object.fromEntries(
        fields.map(([field, name, isFloat]) => [field, isFloat ? known(row[name]!) : int32(row[name]!)]),
      ),
    textOf: (row: Numbers) => types.map(([name]) => row[name]).join(' '),
  };
}

interface GexData {
  captured_at: number;
  spot: number | null;
  net_gex: number;
  strikes: readonly (Numbers & { strike: number })[];
}

const { gex, callOi, putOi } = strikeColumns;
const snapNumbers = frameNumbers({ gex, callOi, putOi });
const deltaNumbers = frameNumbers({ gex });

/**
 * Captures of dealer gamma: the first as `gex_snap`, then changes as `gex_delta`; a snapshot again if strikes were
 * removed.
 */
function gexUpdates(): Updates<GexData> {
  let sent: Sent | null = null;
  return {
    of({ captured_at: capturedAtMs, spot, net_gex: netGex, strikes }) {
      const rows = new Map(strikes.map((row) => [String(row.strike), row]));
      const now = new Map(strikes.map((row) => [String(row.strike), deltaNumbers.textOf(row)]));
      const changed = changedRows(sent, now, rows);
      sent = now;
      const written = (of: GexData['strikes'], { fieldsOf }: typeof snapNumbers) =>
        of.map((row) => ({ strikeThousandths: row.strike, ...fieldsOf(row) }));
      if (changed) return [{ gexDelta: { capturedAtMs, strikes: written(changed, deltaNumbers) } }];
      return [{ gexSnap: { capturedAtMs, spot: known(spot), netGex, strikes: written(strikes, snapNumbers) } }];
    },
    due: nothingDue,
  };
}

interface ChainData {
  captured_at: number;
  spot: number | null;
  rows: readonly { contract: ContractIdentity }[];
}

const { bid, ask, iv, openInterest } = chainColumns;
const chainNumbers = frameNumbers({ bid, ask, iv, openInterest });
/** The numbers of a chain's row are beside its contract. */
const numbersOf = (row: ChainData['rows'][number]) => row as unknown as Numbers;

const chainRow = (withRoot: boolean) => (row: ChainData['rows'][number]) => {
  const { underlying, expiry, right, strike } = row.contract;
  return {
    expiryEpochDay: epochDay(expiry),
    right: right === 'put' ? 1 : 0,
    strikeThousandths: strike,
    ...chainNumbers.fieldsOf(numbersOf(row)),
    ...(withRoot && { root: underlying }),
  };
};

/**
 * Chains: the first as `chain_snap`, then changes as `chain_delta`; a snapshot again if contracts were removed, or rows
 * begin or cease to contain their root.
 */
function chainUpdates(): Updates<ChainData> {
  let sent: { rows: Sent; withRoot: boolean } | null = null;
  return {
    of({ captured_at: capturedAtMs, spot, rows }) {
      const keyOf = ({ contract: { underlying, expiry, right, strike } }: ChainData['rows'][number]) =>
        `${underlying} ${expiry} ${right} ${strike}`;
      const byKey = new Map(rows.map((row) => [keyOf(row), row]));
      const now = new Map(rows.map((row) => [keyOf(row), chainNumbers.textOf(numbersOf(row))]));
      const withRoot = needsRoots(rows.map(({ contract }) => contract));
      const changed = changedRows(sent?.withRoot === withRoot ? sent.rows : null, now, byKey);
      sent = { rows: now, withRoot };
      if (changed) return [{ chainDelta: { capturedAtMs, rows: changed.map(chainRow(withRoot)) } }];
      return [{ chainSnap: { capturedAtMs, spot: known(spot), rows: rows.map(chainRow(withRoot)) } }];
    },
    due: nothingDue,
  };
}

/** The stored operations of the streaming channel. */
export interface SocketOperations {
  topics: Readonly<Record<SocketTopic, ReadOperation>>;
  symbol: ReadOperation;
}

/** Reads and validates them. Throws at startup if one does not fit the schema. */
export function socketOperations(schema: GraphQLSchema): SocketOperations {
  const read = (path: string) => readOperation(schema, `../${path}.graphql`);
  const quotes = read('stream/quotes');
  const topics = {
    stocks: read('stream/bars'),
    spot: quotes,
    index: quotes,
    gex: read('stream/gex'),
    chain: read('socket/chain'),
  };
  return { topics, symbol: read('socket/symbol') };
}

/** Usage group of each topic. */
export const groupOf: Readonly<Record<SocketTopic, ScopeGroup>> = {
  stocks: 'market.bars',
  spot: 'market.live',
  index: 'market.live',
  gex: 'analytics.gex',
  chain: 'market.live',
};

/** A subscription as served, for `ack`. */
interface Effective {
  symbol: string;
  /** Parts of the request that were omitted or changed. */
  clamps: string[];
  [more: string]: unknown;
}

/** An opened subscription. */
export interface OpenTopic {
  answers: LiveAnswers<unknown>;
  updates: Updates;
  effective: Effective;
}

/** Kinds of `stocks` that the store has. */
const served = ['bars'];

function effectiveOf(asked: AskedSubscription): Effective {
  const { topic, symbol, want, timeframe, expiry, strikeGte, strikeLte, expiries } = asked;
  const clamps: string[] = [];
  if (asked.sinceMs !== null && positionOf(asked) === null) clamps.push('since_clamped');
  if (topic === 'chain') return { symbol, expiry, strike_gte: strikeGte, strike_lte: strikeLte, clamps };
  if (topic === 'gex') return { symbol, expiries, clamps };
  if (topic !== 'stocks') return { symbol, clamps };
  const unavailable = (want ?? []).filter((each) => !served.includes(each));
  const has = (want ?? served).filter((each) => served.includes(each));
  if (unavailable.length > 0) clamps.push('want_clamped');
  return { symbol, want: has, ...(unavailable.length > 0 && { unavailable }), timeframe, clamps };
}

function variablesOf({ topic, symbol, timeframe, expiry, strikeGte, strikeLte, expiries }: AskedSubscription) {
  if (topic === 'stocks') return { symbol, timeframe };
  if (topic === 'gex') return { symbol, top: null, expiries };
  if (topic === 'chain') return { symbol, expiry, strikeGte, strikeLte };
  return { symbols: [symbol] };
}

function updatesOf({ topic, timeframe }: AskedSubscription, now: () => number): Updates {
  if (topic === 'stocks') return barUpdates(timeframe, now) as Updates;
  if (topic === 'gex') return gexUpdates() as Updates;
  if (topic === 'chain') return chainUpdates() as Updates;
  return (topic === 'index' ? indexUpdates() : spotUpdates()) as Updates;
}

/** The position from which events retained since an instant are read; null if the topic has only a current state. */
function positionOf({ topic, sinceMs }: AskedSubscription): string | null {
  if (sinceMs === null) return null;
  if (topic === 'stocks') return `${sinceMs}.0.0`;
  return topic === 'gex' ? String(sinceMs) : null;
}

/** Throws 404 for a symbol that is not registered, and 400 if the topic is `index` and the symbol is not an index. */
async function requireRegistered(
  { services, caller, life }: Following,
  operation: ReadOperation,
  { topic, symbol }: AskedSubscription,
) {
  const { data, errors } = await execute({
    schema: services.schema,
    document: operation.document,
    variableValues: { symbol },
    contextValue: services.context(caller, life.onEnd),
  });
  if (errors?.length) throw failureOf(errors[0]!);
  const found = data as { symbol: { class: string; registered: boolean } };
  if (!found.symbol.registered) throw notFound(`Symbol ${symbol}`);
  if (topic === 'index' && found.symbol.class !== 'index')
    throw invalidParameter('symbol', `expected an index, got ${symbol}`);
}

/** Opens a subscription. Throws the reason of a rejection. It ends with the life of its subscriber. */
export async function openTopic(
  following: Following,
  operations: SocketOperations,
  asked: AskedSubscription,
): Promise<OpenTopic> {
  const { topic } = asked;
  if (topic === 'index' || topic === 'spot') await requireRegistered(following, operations.symbol, asked);
  const answers = await followTopic<unknown>(following, {
    name: `socket ${topic}`,
    operation: operations.topics[topic],
    variables: variablesOf(asked),
    since: {},
    after: positionOf(asked),
    write: (data) => data,
  });
  await answers.source.start;
  const { ended } = answers.source;
  if (ended) throw renamedParameter(ended.failure, 'after', 'since');
  const effective = effectiveOf(asked);
  // Entitlement is checked even if the store has no such data.
  if (topic === 'stocks' && (effective.want as string[]).length === 0) void answers.source.return();
  return { answers, updates: updatesOf(asked, following.services.now), effective };
}
