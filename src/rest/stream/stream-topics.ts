import type { Timeframe } from '../../core/domain/market/bar.ts';
import { timeframes } from '../../core/domain/market/bar.ts';
import { parseTicker } from '../../core/domain/market/ticker.ts';
import { InvalidValue } from '../../platform/runtime/invalid-value.ts';
import { type Failure, invalidParameter } from '../../platform/wire/failure.ts';
import type { ScopeGroup } from '../contract/route.ts';

/** Maximum number of topics of a stream besides its quotes. */
export const mostTopics = 50;

/** A kind of topic: its subscription, and the syntax of its text. */
export interface TopicKind {
  /** The operation's file in this folder. */
  operation: string;
  scopeGroup: ScopeGroup;
  /** Description of its events for the documentation. */
  description: string;
  /** The option that follows the symbol's colon; null = none. */
  option: string | null;
  /** True if it accepts `*` for all symbols. */
  all: boolean;
  /** Variables of the operation. Throws 400 for an invalid option. */
  variables: (symbol: string | null, option: string | null) => Record<string, unknown>;
}

function wrong(expected: string, option: string): Failure {
  return invalidParameter('topics', `expected ${expected}, got ${JSON.stringify(option.slice(0, 40))}`);
}

/** Default number of strikes of a capture: that of the history for a key. */
const defaultTop = 20;

/** The kinds of topics by their prefix. */
export const topicKinds: Readonly<Record<string, TopicKind>> = {
  quotes: {
    operation: 'quotes.graphql',
    scopeGroup: 'market.live',
    description: 'the current quote, then every change',
    option: null,
    all: false,
    // All quotes of a stream share one subscription.
    variables: (symbol) => ({ symbols: [symbol] }),
  },
  bars: {
    operation: 'bars.graphql',
    scopeGroup: 'market.bars',
    description: 'the latest bar, then every new or changed bar',
    option: `timeframe, ${timeframes.join(', ')}; default 1m`,
    all: false,
    variables(symbol, option) {
      const timeframe = option ?? '1m';
      if (!timeframes.includes(timeframe as Timeframe))
        throw wrong(`one of ${timeframes.join(', ')} as timeframe`, timeframe);
      return { symbol, timeframe };
    },
  },
  gex: {
    operation: 'gex.graphql',
    scopeGroup: 'analytics.gex',
    description: 'the latest GEX capture, then every new one',
    option: `number of strikes per capture; default ${defaultTop}`,
    all: false,
    variables(symbol, option) {
      if (option !== null && !/^[1-9]\d{0,5}$/.test(option)) throw wrong('a number of strikes of 1 or more', option);
      return { symbol, top: option === null ? defaultTop : Number(option) };
    },
  },
  'large-trades': {
    operation: 'large-trades.graphql',
    scopeGroup: 'analytics.flow',
    description: 'large trades as they are detected; with an API key, `*` requires a minimum premium',
    option: 'minimum total premium, dollars',
    all: true,
    variables(symbol, option) {
      if (option !== null && !/^\d{1,15}(\.\d{1,10})?$/.test(option))
        throw wrong('a minimum premium in dollars', option);
      return { symbol, minPremiumUsd: option === null ? null : Number(option) };
    },
  },
  'cross-section': {
    operation: 'cross-section.graphql',
    scopeGroup: 'analytics.flow',
    description: 'the cumulative option flow of the session, then every new snapshot',
    option: null,
    all: false,
    variables: (symbol) => ({ symbol }),
  },
};

/** A topic of a stream, followed by one subscription. */
export interface Topic {
  /** A key of `topicKinds`, and the name of the event. */
  kind: string;
  variables: Record<string, unknown>;
}

interface Term {
  kind: string;
  symbol: string | null;
  option: string | null;
  /** Its name as sent and bound in ids. */
  name: string;
}

function symbolOf(text: string, kind: TopicKind, term: string): string | null {
  if (text === '*' && kind.all) return null;
  try {
    return parseTicker(text, 'topics');
  } catch (error) {
    if (!(error instanceof InvalidValue)) throw error;
    throw invalidParameter(
      'topics',
      `${JSON.stringify(term.slice(0, 60))}: expected a ticker${kind.all ? ' or *' : ''}`,
    );
  }
}

/** Reads a topic. One without a kind has the kind of the topic before it. */
function readTerm(text: string, before: string | null): Term {
  const parts = text.split(':');
  const named = Object.hasOwn(topicKinds, parts[0]!);
  const kind = named ? parts.shift()! : before;
  const known = kind !== null && (named || parts.length === 1) ? topicKinds[kind] : undefined;
  if (!known || parts.length === 0 || parts.length > 2) {
    const kinds = Object.keys(topicKinds).join(', ');
    throw invalidParameter(
      'topics',
      `${JSON.stringify(text.slice(0, 60))}: expected kind:SYMBOL or kind:SYMBOL:option, kind one of ${kinds}`,
    );
  }
  const symbol = symbolOf(parts[0]!, known, text);
  const option = parts[1] ?? null;
  if (option !== null && known.option === null)
    throw invalidParameter('topics', `${JSON.stringify(text.slice(0, 60))}: ${kind} takes no option`);
  return { kind: kind!, symbol, option, name: [kind, symbol ?? '*', ...(option === null ? [] : [option])].join(':') };
}

/** The requested topics by name, and their subscriptions. */
export interface AskedTopics {
  names: string[];
  topics: Topic[];
}

/** Reads `topics`: `quotes:SPY,QQQ,bars:SPY:5m,large-trades:*:250000`. Throws 400 that names the topic. */
export function readTopics(text: string): AskedTopics {
  const terms = new Map<string, Term>();
  let before: string | null = null;
  for (const part of text.split(',')) {
    const term = readTerm(part.trim(), before);
    before = term.kind;
    terms.set(term.name, term);
  }
  const quotes = [...terms.values()].filter(({ kind }) => kind === 'quotes');
  const others = [...terms.values()].filter(({ kind }) => kind !== 'quotes');
  if (others.length > mostTopics)
    throw invalidParameter('topics', `at most ${mostTopics} topics beside quotes, got ${others.length}`);
  const topics = others.map(({ kind, symbol, option }) => ({
    kind,
    variables: topicKinds[kind]!.variables(symbol, option),
  }));
  if (quotes.length > 0) topics.unshift({ kind: 'quotes', variables: { symbols: quotes.map(({ symbol }) => symbol) } });
  return { names: [...terms.keys()], topics };
}
