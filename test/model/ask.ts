// The only file that knows how a gateway is asked: a question, and the answer that the model gives to it.
import type { Answer, Json } from '../support/app.ts';
import type { Random } from '../support/random.ts';
import type { Book } from './book.ts';
import { dateOf, newYork, plusDays, sessionOf, tradingDay } from './calendar.ts';
import { activityOf, type Bar, barsOf, changePct, compositionOf, quoteOf, type Timeframe } from './figures.ts';
import type { CallerName } from './gateway.ts';
import type { World } from './world.ts';

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

/** A symbol's bars of every stored session up to now. */
function allBars({ book, nowMs }: Asked, symbol: string, timeframe: Timeframe): Bar[] {
  const sessions = book.sessionsOf(symbol).filter((session) => session <= sessionOf(nowMs));
  return sessions.flatMap((session) => barsOf(book.printsOf(symbol, session), session, timeframe));
}

function askBars(asked: Asked): Question {
  const { world, random } = asked;
  const { symbol } = random.pick(world.symbols);
  const timeframe = random.pick(['1s', '1m', '1m', '5m', '1h', '1d', '1d'] as const);
  const from = plusDays(random.pick(world.sessions), -random.below(2));
  const to = plusDays(from, 1 + random.below(timeframe === '1d' ? 9 : 3));
  const [fromMs, toMs] = [newYork(from), newYork(to)];
  const rows = allBars(asked, symbol, timeframe).filter(({ ts_ms }) => ts_ms >= fromMs && ts_ms < toMs);
  return {
    path: `/v2/stocks/${symbol}/bars?from=${from}&to=${to}&timeframe=${timeframe}&limit=50000`,
    caller: 'session',
    judge: data(rows.map((bar) => ({ symbol, timeframe, ...bar }))),
  };
}

const recentDays = 10;

function quote(asked: Asked, symbol: string) {
  const empty = { spot: null, change_pct: null, volume: null, official_close: null, session_date: null };
  const days = asked.book.sessionsOf(symbol).flatMap((session) => {
    const [bar] = barsOf(asked.book.printsOf(symbol, session), session, '1d');
    return bar ? [{ session, bar }] : [];
  });
  const [date, session] = [dateOf(asked.nowMs), sessionOf(asked.nowMs)];
  const found = quoteOf(days, session, plusDays(date, -recentDays));
  if (!found) return { symbol, ...empty };
  const { before, ...price } = found;
  const isKnown = before !== undefined && before.session >= plusDays(price.session_date, -recentDays);
  const close = isKnown ? before.bar.close : null;
  return { symbol, ...price, official_close: close, change_pct: close === null ? null : changePct(price.spot, close) };
}

function askQuotes(asked: Asked): Question {
  const symbols = asked.world.symbols.map(({ symbol }) => symbol);
  return {
    path: `/v2/quotes?symbols=${symbols}`,
    caller: 'key',
    judge: data(symbols.map((symbol) => quote(asked, symbol))),
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

const kinds = [askBars, askBars, askBars, askQuotes, askOffExchange];

/** A question of a seed. */
export function ask(asked: Asked): Question {
  return asked.random.pick(kinds)(asked);
}
