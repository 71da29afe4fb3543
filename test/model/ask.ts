// The only file that knows how a gateway is asked: a question, and the answer that the model gives to it.
import type { Answer, Json } from '../support/app.ts';
import type { Random } from '../support/random.ts';
import { askChains } from './ask-chains.ts';
import type { Book } from './book.ts';
import { closeOf, dateOf, newYork, openOf, plusDays, sessionOf, tradingDay } from './calendar.ts';
import type { ChainBook } from './chain-book.ts';
import {
  activityOf,
  type Bar,
  barsOf,
  changePct,
  compositionOf,
  crossSectionOf,
  longerBars,
  quoteOf,
  rankedPrints,
  type Timeframe,
} from './figures.ts';
import type { CallerName } from './gateway.ts';
import { optionRoots, type World } from './world.ts';

export interface Question {
  path: string;
  caller: CallerName;
  /** Null if the answer is the model's, else the difference. */
  judge(answer: Answer): string | null;
}

/** Subject of a question. */
export interface Asked {
  world: World;
  book: Book;
  /** Prints of options, by underlying. */
  options: Book;
  chains: ChainBook;
  nowMs: number;
  random: Random;
}

const near = (a: number, b: number) => Math.abs(a - b) <= 1e-9 * Math.max(1, Math.abs(a), Math.abs(b));

/** The first difference of an answer from what is expected; keys that are not expected are not looked at. */
export function difference(got: Json, expected: Json, path = ''): string | null {
  if (typeof expected === 'number' && typeof got === 'number') {
    return near(got, expected) ? null : `${path}: ${got}, expected ${expected}`;
  }
  if (Array.isArray(expected)) {
    if (!Array.isArray(got)) return `${path}: ${JSON.stringify(got)}, expected a list`;
    for (let i = 0; i < Math.min(got.length, expected.length); i++) {
      const found = difference(got[i], expected[i], `${path}[${i}]`);
      if (found) return found;
    }
    const [more, less] = [got[expected.length], expected[got.length]];
    if (got.length > expected.length) return `${path}: ${got.length - expected.length} more: ${JSON.stringify(more)}`;
    return less === undefined ? null : `${path}: ${expected.length - got.length} missing: ${JSON.stringify(less)}`;
  }
  if (expected !== null && typeof expected === 'object') {
    if (got === null || typeof got !== 'object') return `${path}: ${got}, expected ${JSON.stringify(expected)}`;
    for (const key of Object.keys(expected)) {
      const found = difference(got[key], expected[key], `${path}.${key}`);
      if (found) return found;
    }
    return null;
  }
  return got === expected ? null : `${path}: ${JSON.stringify(got)}, expected ${JSON.stringify(expected)}`;
}

const data = (expected: Json) => (answer: Answer) =>
  answer.status === 200 ? difference(answer.body.data, expected, 'data') : `status ${answer.status}`;

/** A bar as it is served. */
const served = ({ weight: _, ...bar }: Bar) => bar;

/** The factor of the splits of a symbol after one date, up to another. */
function factorOf({ book }: Asked, symbol: string, after: string, through: string): number {
  const splits = [...book.splits.values()].filter((split) => split.symbol === symbol);
  return splits.filter(({ exDate }) => exDate > after && exDate <= through).reduce((all, { ratio }) => all * ratio, 1);
}

const halfEven = (value: number) => (Math.abs(value % 1) === 0.5 ? 2 * Math.round(value / 2) : Math.round(value));

/** A symbol's bars as of an instant, from what its prints were by then. */
function barsAt({ book }: Asked, symbol: string, timeframe: Timeframe, atMs: number): Bar[] {
  const cut = book.sessionsOf(symbol).map((session) => {
    return { session, prints: book.printsOf(symbol, session).filter(({ ms }) => ms < atMs) };
  });
  const of = (length: '1s' | '1m' | '1d') => cut.flatMap(({ session, prints }) => barsOf(prints, session, length));
  return timeframe === '5m' || timeframe === '1h' ? longerBars(of('1m'), timeframe) : of(timeframe);
}

/** An instant to ask about, on a whole minute; null = now. */
function instant({ world, random, nowMs }: Asked, symbols: readonly string[], book: Book): number | null {
  if (!random.once(3) || !symbols.every((symbol) => book.isOfPrints(symbol))) return null;
  const session = random.pick(world.sessions);
  const at = openOf(session) + 60_000 * random.pick([-90, 1, 30, 200, 391, 600, 1000]);
  return at < nowMs ? at : null;
}

function askBars(asked: Asked): Question {
  const { world, book, nowMs, random } = asked;
  const { symbol } = random.pick(world.symbols);
  const timeframe = random.pick(['1s', '1m', '1m', '5m', '1h', '1d', '1d'] as const);
  const from = plusDays(random.pick(world.sessions), -random.below(2));
  const to = plusDays(from, 1 + random.below(timeframe === '1d' ? 9 : 3));
  const [fromMs, toMs] = [newYork(from), newYork(to)];
  const at = instant(asked, [symbol], book);
  const adjusted = at === null && random.once(3);
  const stored = at === null ? book.barsOf(symbol, timeframe) : barsAt(asked, symbol, timeframe, at);
  const rows = stored.filter(({ ts_ms: start }) => start >= fromMs && start < toMs).map(served);
  const adjust = (bar: (typeof rows)[number]) => {
    const f = adjusted ? factorOf(asked, symbol, sessionOf(bar.ts_ms), dateOf(nowMs)) : 1;
    const { open, high, low, close, vwap, volume } = bar;
    const prices = { open: open / f, high: high / f, low: low / f, close: close / f, vwap: vwap && vwap / f };
    return { symbol, timeframe, ...bar, ...prices, volume: halfEven(volume * f) };
  };
  const more = `${at === null ? '' : `&at=${at}`}${adjusted ? '&adjusted=true' : ''}`;
  return {
    path: `/v2/stocks/${symbol}/bars?from=${from}&to=${to}&timeframe=${timeframe}&limit=50000${more}`,
    caller: 'session',
    judge: data(rows.map(adjust)),
  };
}

const recentDays = 10;

function quote(asked: Asked, symbol: string, at: number | null) {
  const empty = { spot: null, change_pct: null, volume: null, official_close: null, session_date: null };
  const bars = at === null ? asked.book.barsOf(symbol, '1d') : barsAt(asked, symbol, '1d', at);
  const days = bars.map((bar) => ({ session: dateOf(bar.ts_ms), bar }));
  const now = at ?? asked.nowMs;
  const found = quoteOf(days, sessionOf(now), plusDays(dateOf(now), -recentDays));
  if (!found) return { symbol, ...empty };
  const { before, ...price } = found;
  const isKnown = before !== undefined && before.session >= plusDays(price.session_date, -recentDays);
  if (!isKnown) return { ...empty, symbol, ...price };
  const close = before.bar.close / factorOf(asked, symbol, before.session, price.session_date);
  return { symbol, ...price, official_close: close, change_pct: changePct(price.spot, close) };
}

function askQuotes(asked: Asked): Question {
  const symbols = asked.world.symbols.map(({ symbol }) => symbol);
  const at = instant(asked, symbols, asked.book);
  return {
    path: `/v2/quotes?symbols=${symbols}${at === null ? '' : `&at=${at}`}`,
    caller: 'key',
    judge: data(symbols.map((symbol) => quote(asked, symbol, at))),
  };
}

/** The sessions of which off-exchange figures must be there: from 06:00 of the next trading day on. */
function published({ book, nowMs }: Asked, symbol: string): string[] {
  return book.sessionsOf(symbol).filter((session) => nowMs >= newYork(tradingDay(session, 1), 360));
}

/** Rows of sessions that are published later are not looked at. */
const publishedData = (sessions: readonly string[], expected: Json[]) => (answer: Answer) => {
  if (answer.status !== 200) return `status ${answer.status}`;
  const rows = answer.body.data.filter(({ date }: Json) => sessions.includes(date));
  const order = (all: Json[]) =>
    [...all].sort((a, b) => (`${a.date}${a.category}` < `${b.date}${b.category}` ? -1 : 1));
  return difference(order(rows), order(expected), 'data');
};

function askOffExchange(asked: Asked): Question {
  const { world, book, random } = asked;
  const { symbol } = random.pick(world.symbols);
  const route = random.pick(['activity', 'composition'] as const);
  const sessions = published(asked, symbol);
  const rows = sessions.flatMap((date): Json[] => {
    const prints = book.printsOf(symbol, date);
    if (route === 'composition') return compositionOf(prints).map((row) => ({ date, ...row }));
    const row = activityOf(prints, date);
    return row ? [row] : [];
  });
  return {
    path: `/v2/offexchange/${symbol}/${route}?from=${world.sessions[0]}&to=${world.sessions.at(-1)}&limit=5000`,
    caller: 'key',
    judge: publishedData(sessions, rows),
  };
}

/** The snapshot of a session with stored prints, else null; of the last one that ended, its list too. */
function askOptions(asked: Asked): Question {
  const { world, options, random, nowMs } = asked;
  const [symbol, session] = [random.pick(Object.keys(optionRoots)), random.pick(world.sessions)];
  const prints = options.printsOf(symbol, session);
  if (random.once(2)) {
    const update = options.sessionsOf(symbol).includes(session) ? { update: crossSectionOf(prints) } : null;
    const isLater = newYork(session, -240) > nowMs;
    return {
      path: `/v2/flow/${symbol}/cross-section?session=${session}`,
      caller: 'key',
      judge: isLater ? () => null : data({ snapshot: update }),
    };
  }
  const rows = rankedPrints(prints).map(({ contract, price, size, exchange, ms }, i) => {
    const { root: underlying, ...of } = contract!;
    const premium = { price: price / 1e4, size, premium_usd: (price * size) / 100 };
    return {
      ...premium,
      contract: { underlying, ...of },
      exchange,
      event_ts_ms: ms,
      session_date: session,
      rank: i + 1,
    };
  });
  const isOver = nowMs > closeOf(session) + 3_600_000;
  return {
    path: `/v2/flow/eod?symbol=${symbol}&session=${session}`,
    caller: 'session',
    judge: isOver ? data({ prints: rows }) : () => null,
  };
}

const kinds = [askBars, askBars, askBars, askQuotes, askOffExchange, askOptions, askChains, askChains, askChains];

/** A question of a seed. */
export async function ask(asked: Asked): Promise<Question> {
  return asked.random.pick(kinds)(asked);
}
