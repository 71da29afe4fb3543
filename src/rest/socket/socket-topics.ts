import { execute, type GraphQLSchema } from 'graphql';
import type { LiveAnswers } from '../../graphql/execution/live-answers.ts';
import { invalidParameter, notFound, renamedParameter } from '../../platform/wire/failure.ts';
import { failureOf, type ReadOperation, readOperation } from '../contract/operation.ts';
import type { ScopeGroup } from '../contract/route.ts';
import { type Following, followTopic } from '../stream/follow-topic.ts';
import type { AskedSubscription, SocketTopic } from './control.ts';
import { barUpdates, chainUpdates, gexUpdates, indexUpdates, spotUpdates, type Updates } from './updates.ts';

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
export interface Effective {
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
