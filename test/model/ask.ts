// The only file that knows how a gateway is asked: a question, and the answer that the model gives to it.
import type { Answer, Json } from '../support/app.ts';
import type { Random } from '../support/random.ts';
import { anyOf, askChains, gexState } from './ask-chains.ts';
import { field, type InGraph, inGraph } from './ask-graph.ts';
import { type Book, seriesOf } from './book.ts';
import { closeOf, dateOf, newYork, openOf, plusDays, sessionOf, tradingDay } from './calendar.ts';
import type { ChainBook } from './chain-book.ts';
import {
  activityOf,
  type Bar,
  barsOf,
  changePct,
  compositionOf,
  concentrationOf,
  crossSectionOf,
  halfEven,
  largeTradesOf,
  levelsOf,
  longerBars,
  quoteOf,
  rankedPrints,
  type Timeframe,
} from './figures.ts';
import { type CallerName, callerNames, rightsOf } from './gateway.ts';
import { isIndex, optionRoots, type Print, tickerOf, type World } from './world.ts';

export interface Question {
  /** Its address; '' if only the graph answers it. */
  path: string;
  caller: CallerName;
  /** The same as fields of the graph; if absent, it is asked by its route alone. */
  graph?: InGraph | undefined;
  /** True for the first state of a subscription. */
  isFollowed?: boolean;
  /** Number of events to read, of a stream; its answer has them as data. */
  events?: number;
  /** Requirement of the caller; none if absent. */
  needs?: Needs;
  /** Null if the answer is the model's, else the difference. `get` asks more as the same caller. */
  judge(answer: Answer, get: (path: string) => Promise<Answer>): string | null | Promise<string | null>;
}

/** A symbol's data, or a scope of it. */
export interface Needs {
  symbol: string;
  scope?: 'flow' | 'off-exchange';
}

const tiers = ['free', 'basic', 'pro'];
/** The lowest tier that reads a symbol; indexes also need a declaration. */
const floorOf = ({ symbols }: World, symbol: string) =>
  symbols.find((each) => each.symbol === symbol)?.minTier ?? (symbol === 'SPX' ? 'pro' : 'free');

/** The code with which a caller is refused; null = none. Tiers are looked at first. */
export function refusal(world: World, caller: CallerName, { symbol, scope }: Needs): string | null {
  const { tier, isAttested } = rightsOf(caller);
  const has = (floor: string) => tiers.indexOf(tier) >= tiers.indexOf(floor);
  const ofScope = scope === 'flow' ? 'pro' : scope === 'off-exchange' ? 'basic' : 'free';
  if (!has(ofScope)) return 'not_entitled_tier';
  if (scope && !isAttested) return 'attestation_required';
  if (!has(floorOf(world, symbol))) return 'not_entitled_tier';
  return symbol === 'SPX' && !isAttested ? 'attestation_required' : null;
}

/** A question, now and then as another caller asks it: one without a right to the answer gets the code. */
function asCaller(asked: Asked, question: Question): Question {
  const { random, world } = asked;
  if (!question.needs || question.isFollowed || !random.once(3)) return question;
  const caller = random.pick(callerNames);
  const code = refusal(world, caller, question.needs);
  if (code === null) return { ...question, caller };
  return {
    path: question.path,
    graph: question.graph,
    caller,
    judge: ({ status, body }) =>
      status === 403 && body.error.code === code ? null : `${failed({ status, body })}, expected 403 ${code}`,
  };
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

const failed = ({ status, body }: Pick<Answer, 'status' | 'body'>) =>
  `status ${status}: ${JSON.stringify(body?.error)}`;

const data = (expected: Json) => (answer: Answer) =>
  answer.status === 200 ? difference(answer.body.data, expected, 'data') : failed(answer);

/** A bar as it is served. */
const served = ({ weight: _, ...bar }: Bar) => bar;

/** The factor of the splits of a symbol after one date, up to another. */
function factorOf({ book }: Asked, symbol: string, after: string, through: string): number {
  const splits = [...book.splits.values()].filter((split) => split.symbol === symbol);
  return splits.filter(({ exDate }) => exDate > after && exDate <= through).reduce((all, { ratio }) => all * ratio, 1);
}

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
  const { symbol } = random.pick([
    ...[...world.symbols, world.index],
    ...(book.sessionsOf(world.followed.symbol).length > 0 ? [world.followed] : []),
  ]);
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
  const path = `/v2/stocks/${symbol}/bars?from=${from}&to=${to}&timeframe=${timeframe}${more}`;
  const needs = { symbol };
  if (!random.once(4)) {
    const bars = `bars(from: "${from}", to: "${to}", timeframe: "${timeframe}", adjust: ${adjusted ? 'split' : 'raw'}`;
    const fields = [field('symbol', { symbol }), `${bars}, limit: 5000)`];
    return {
      path: `${path}&limit=50000`,
      caller: 'session',
      needs,
      judge: data(rows.map(adjust)),
      graph: inGraph(at, null, fields, { data: rows.map(adjust) }),
    };
  }
  // Pages are those of one question: its cursors are of no other symbol, and of no other instant.
  const limit = 1 + random.below(9);
  return {
    path: `${path}&limit=${limit}`,
    caller: 'session',
    needs,
    async judge(first, get) {
      const all: Json[] = [];
      for (let page = first; ; ) {
        if (page.status !== 200) return `a page: ${failed(page)}`;
        all.push(...page.body.data);
        const { cursor } = page.body.meta;
        if (cursor === undefined) return difference(all, rows.map(adjust), 'pages');
        const other = at === null ? `${path}&at=${nowMs - 60_000}` : path.replace(`&at=${at}`, '');
        const foreign = await get(`${other}&limit=${limit}&cursor=${cursor}`);
        if (foreign.status !== 400) return `status ${foreign.status} of a cursor of another instant, expected 400`;
        page = await get(`${path}&limit=${limit}&cursor=${cursor}`);
      }
    },
  };
}

const recentDays = 10;

const unknown = { spot: null, change_pct: null, volume: null, official_close: null, session_date: null };

function quote(asked: Asked, symbol: string, at: number | null) {
  const bars = at === null ? asked.book.barsOf(symbol, '1d') : barsAt(asked, symbol, '1d', at);
  const days = bars.map((bar) => ({ session: dateOf(bar.ts_ms), bar }));
  const now = at ?? asked.nowMs;
  const found = quoteOf(days, sessionOf(now), plusDays(dateOf(now), -recentDays));
  if (!found) return { symbol, ...unknown };
  const { before, ...of } = found;
  const price = { ...of, volume: isIndex({ symbol }) ? null : of.volume };
  const isKnown = before !== undefined && before.session >= plusDays(price.session_date, -recentDays);
  if (!isKnown) return { ...unknown, symbol, ...price };
  const close = before.bar.close / factorOf(asked, symbol, before.session, price.session_date);
  return { symbol, ...price, official_close: close, change_pct: changePct(price.spot, close) };
}

function askQuotes(asked: Asked): Question {
  const { world, random } = asked;
  const symbols = [...world.symbols, ...(random.once(3) ? [world.index] : [])].map(({ symbol }) => symbol);
  const at = instant(asked, symbols, asked.book);
  const caller = asked.random.pick(callerNames);
  const restricted = symbols.filter((symbol) => refusal(asked.world, caller, { symbol }) !== null);
  const rows = symbols.map((symbol) =>
    restricted.includes(symbol) ? { symbol, ...unknown } : quote(asked, symbol, at),
  );
  return {
    path: `/v2/quotes?symbols=${symbols}${at === null ? '' : `&at=${at}`}`,
    caller,
    graph: inGraph(at, null, [field('quotes', { symbols })], { data: rows, meta: { restricted: [''] } }),
    judge: (answer) =>
      data(rows)(answer) ?? difference(answer.body.meta.restricted ?? [], restricted, 'meta.restricted'),
  };
}

/** The sessions of which off-exchange figures must be there: from 06:00 of the next trading day on. */
function published({ book, nowMs }: Asked, symbol: string): string[] {
  return book.sessionsOf(symbol).filter((session) => nowMs >= newYork(tradingDay(session, 1), 360));
}

/** Rows of sessions that are published later are not looked at. */
const publishedData = (sessions: readonly string[], expected: Json[]) => (answer: Answer) => {
  if (answer.status !== 200) return failed(answer);
  const rows = answer.body.data.filter(({ date }: Json) => sessions.includes(date));
  const order = (all: Json[]) =>
    [...all].sort((a, b) => (`${a.date}${a.category}${a.rank}` < `${b.date}${b.category}${b.rank}` ? -1 : 1));
  return difference(order(rows), order(expected), 'data');
};

function askOffExchange(asked: Asked): Question {
  const { world, book, random } = asked;
  const { symbol } = random.pick(world.symbols);
  const sessions = published(asked, symbol);
  const [first, last] = [world.sessions[0], world.sessions.at(-1)];
  const window = `from=${first}&to=${last}&limit=5000`;
  const question = (route: string, names: string, judge: Question['judge']): Question => ({
    path: `/v2/offexchange/${symbol}/${route}?${window}`,
    caller: 'key',
    judge,
    needs: { symbol, scope: 'off-exchange' },
    graph: {
      fields: [field('symbol', { symbol }), 'offExchange', field(route, { from: first, to: last, limit: 5000 })],
      example: { data: [Object.fromEntries(`date notional trade_count ${names}`.split(' ').map((name) => [name, 0]))] },
    },
  });
  const ofPrints = (route: string, names: string, rowsOf: (prints: readonly Print[]) => readonly Json[]) => {
    const rows = sessions.flatMap((date) => rowsOf(book.printsOf(symbol, date)).map((each) => ({ date, ...each })));
    return question(route, names, publishedData(sessions, rows));
  };
  const route = random.pick(['activity', 'composition', 'profile', 'concentration', 'known'] as const);
  // Figures of two generations could be subtracted.
  if (route === 'known')
    return {
      path: `/v2/offexchange/${symbol}/activity?${window}&known=${asked.nowMs - 500}`,
      caller: 'key',
      judge: ({ status }) => (status === 400 ? null : `status ${status}, expected 400`),
    };
  if (route === 'activity')
    return ofPrints(route, 'off_exch_volume avg_size off_exch_pct consolidated_volume', activityOf);
  if (route === 'composition') return ofPrints(route, 'volume category', compositionOf);
  if (route === 'profile')
    return question(route, 'volume price_thousandths', (answer) => judgeProfile(asked, symbol, answer));
  const names = 'volume bucket_midpoint bucket_width distinct_sessions rank_score rank bucket_count distance_bps';
  return question(route, names, async (answer, get) => {
    const [levels, activity] = await Promise.all(
      ['profile', 'activity'].map((name) => get(`/v2/offexchange/${symbol}/${name}?${window}`)),
    );
    const factor = (after: string, through: string) => factorOf(asked, symbol, after, through);
    const rows = concentrationOf(levels!.body.data, activity!.body.data, factor);
    return publishedData(
      sessions,
      rows.filter(({ date }) => sessions.includes(date)),
    )(answer);
  });
}

/** The published levels of sessions: sums of price-forming executions, of which none or three and more are left. */
function judgeProfile(asked: Asked, symbol: string, { status, body }: Answer): string | null {
  if (status !== 200) return failed({ status, body });
  for (const date of published(asked, symbol)) {
    const levels = levelsOf(asked.book.printsOf(symbol, date));
    const rows = body.data.filter((row: Json) => row.date === date);
    for (const row of rows) {
      const found = difference(row, {
        ...levels.get(row.price_thousandths),
        ...(row.trade_count < 3 && { trade_count: 3 }),
      });
      if (found) return `level ${row.price_thousandths} of ${date}: ${found}`;
    }
    const count = (all: Iterable<Json>) => [...all].reduce((sum, row) => sum + row.trade_count, 0);
    const left = count(levels.values()) - count(rows);
    if (rows.length > 0 && (left === 1 || left === 2)) return `${left} executions of ${date} follow by subtraction`;
  }
  return null;
}

/** A session's large trades, newest first; a key gets at most a hundred. */
function askLargeTrades({ random }: Asked, symbol: string, session: string, prints: readonly Print[]): Question {
  const limit = random.pick([100, 100, 1 + random.below(20)]);
  const events = largeTradesOf(prints).toReversed();
  const last = events[limit - 1]?.event_ts_ms;
  // The texts do not order events of one millisecond: of the last one's, any may be in the answer.
  const inOrder = (all: readonly Json[]) =>
    all
      .filter(({ event_ts_ms: ms }) => events.length <= limit || ms > last!)
      .sort((a, b) => b.event_ts_ms - a.event_ts_ms || (JSON.stringify(a) < JSON.stringify(b) ? -1 : 1));
  const figures = (event: Json) => Object.fromEntries(Object.keys(events[0] ?? {}).map((name) => [name, event[name]]));
  return {
    path: `/v2/flow/large-trades?symbol=${symbol}&session=${session}&limit=${limit}`,
    caller: 'key',
    needs: { symbol, scope: 'flow' },
    judge(answer) {
      if (answer.status !== 200) return failed(answer);
      const found: Json[] = answer.body.data.events.map(({ update }: Json) => figures(update.event));
      const times = (all: readonly Json[]) => all.map(({ event_ts_ms: ms }) => ms);
      return (
        difference(times(found), times(events.slice(0, limit)), 'times') ??
        difference(inOrder(found), inOrder(events), 'events')
      );
    },
    graph: {
      fields: [field('largeTrades', { symbol, session, limit })],
      example: { events: [{ update: { event: events[0] ?? { event_kind: '' } } }] },
    },
  };
}

/** The newest bars of a contract's session; of an instant, from minutes that had ended. */
function askContractBars(asked: Asked): Question {
  const { world, options, random, nowMs } = asked;
  const [symbol, session] = [random.pick(Object.keys(optionRoots)), random.pick(world.sessions)];
  const of = { symbol, contract: random.pick(world.options(symbol, session)).contract! };
  const timeframe = random.pick(['1m', '1m', '5m'] as const);
  const limit = random.pick([390, 390, 1 + random.below(5)]);
  const instant = openOf(session) + 60_000 * random.pick([-90, 1, 30, 200, 391, 600]);
  const at = random.once(3) && instant < nowMs ? instant : null;
  const minutes = options
    .barsOf(seriesOf(of), '1m')
    .filter(({ ts_ms: ms }) => sessionOf(ms) === session && (at === null || ms + 60_000 <= at));
  const bars = (timeframe === '1m' ? minutes : longerBars(minutes, '5m')).slice(-limit).map(served);
  const { root: underlying, ...contract } = of.contract;
  const example = { contract: { underlying, ...contract }, timeframe, bars };
  const [path, more] = [tickerOf(of), at === null ? '' : `&at=${at}`];
  return {
    path: `/v2/options/${path}/bars?tf=${timeframe}&session=${session}&limit=${limit}${more}`,
    caller: 'session',
    needs: { symbol },
    judge: data(example),
    graph: inGraph(at, null, [field('contract', { id: path }), field('bars', { timeframe, session, limit })], example),
  };
}

/** The contracts of a session that buyers and sellers initiated, over the minutes that have ended (methodology 11). */
function askSignedVolume(asked: Asked): Question {
  const { world, options, random, nowMs } = asked;
  const symbol = random.pick(Object.keys(optionRoots));
  const begun = world.sessions.filter((each) => openOf(each) <= nowMs);
  if (begun.length === 0) return askContractBars(asked);
  const session = random.pick(begun);
  const some = random.pick(world.options(symbol, session));
  const id = tickerOf(some);
  // A print counts from the end of its minute on.
  const instant = some.ms + random.pick([0, 60_000]);
  const at = random.once(2) && instant < nowMs ? instant : null;
  const through_ms = Math.floor((at ?? nowMs) / 60_000) * 60_000;
  const prints = options.printsOf(symbol, session);
  const counted = prints.filter(({ ms }) => ms < through_ms);
  const own = counted.filter((print) => tickerOf(print) === id);
  const of = (side: string) => own.filter((print) => print.side === side).reduce((sum, { size }) => sum + size, 0);
  const known = { session_date: session, through_ms, bought: of('buy_inferred'), sold: of('sell_inferred') };
  const hasSide = prints.some(({ side }) => side !== 'unknown');
  // The texts do not say when a session begins to be observed.
  const answers = hasSide ? [known, ...(counted.length === 0 ? [null] : [])] : [null];
  return {
    path: '',
    caller: 'session',
    needs: { symbol, scope: 'flow' },
    judge: anyOf(answers, ({ data }) => data),
    graph: inGraph(at, null, [field('contract', { id }), field('signedVolume', { session })], known),
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
      needs: { symbol, scope: 'flow' },
      judge: isLater ? () => null : data({ snapshot: update }),
      graph: {
        fields: [field('symbol', { symbol }), 'flow', field('crossSection', { session })],
        example: { snapshot: { update: crossSectionOf(prints) } },
      },
    };
  }
  if (random.once(2)) return askLargeTrades(asked, symbol, session, prints);
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
    needs: { symbol, scope: 'flow' },
    ...(symbol !== 'SPX' && {
      graph: { fields: [field('eod', { symbol, session })], example: { prints: rows } },
    }),
    // Keys read the list of equities.
    judge: isOver
      ? (answer) => data({ prints: answer.body.data?.tier === 'free' && symbol === 'SPX' ? [] : rows })(answer)
      : () => null,
  };
}

/** The state that a topic begins with: one of some. */
export interface State {
  topic: string;
  event: string;
  answers: readonly Json[];
}

/** The states that topics of a stream begin with; bars of earlier weeks are none. */
async function askStream(asked: Asked): Promise<Question> {
  const { world, book, options, random, nowMs } = asked;
  const recent = plusDays(dateOf(nowMs), 1 - recentDays);
  const states: State[] = [];
  for (const { symbol } of [...world.symbols, world.followed, world.index].filter(() => random.once(3))) {
    states.push({ topic: `quotes:${symbol}`, event: 'quotes', answers: [quote(asked, symbol, null)] });
    const timeframe = random.pick(['1s', '1m', '5m', '1h', '1d'] as const);
    const bar = book.barsOf(symbol, timeframe).at(-1);
    if (bar && sessionOf(bar.ts_ms) >= recent)
      states.push({ topic: `bars:${symbol}:${timeframe}`, event: 'bars', answers: [{ symbol, ...served(bar) }] });
  }
  const underlying = random.pick(Object.keys(optionRoots));
  const session = options.sessionsOf(underlying).at(-1);
  const update = session && crossSectionOf(options.printsOf(underlying, session));
  if (session && session >= recent)
    states.push({
      topic: `cross-section:${underlying}`,
      event: 'cross-section',
      answers: [{ symbol: underlying, update }],
    });
  states.push(...(await gexState(asked)));
  if (states.length === 0) return askQuotes(asked);
  const key = (event: string, state: Json) => `${event} ${state.symbol}`;
  return {
    path: `/v2/stream?topics=${states.map(({ topic }) => topic)}`,
    caller: 'session',
    events: states.length,
    judge(answer) {
      const found = new Map<string, Json>(
        answer.body.data.map((each: Json) => [key(each.event, each.data), each.data]),
      );
      const wrong = ({ event, answers }: State) =>
        anyOf(answers, () => found.get(key(event, answers[0])))(answer) ?? [];
      return states.flatMap(wrong)[0] ?? null;
    },
  };
}

const kinds: readonly ((asked: Asked) => Question | Promise<Question>)[] = [
  ...[askBars, askBars, askBars, askQuotes, askOffExchange, askOptions, askContractBars, askSignedVolume],
  ...[askChains, askChains, askChains, askStream],
];

/** A question of a seed. */
export async function ask(asked: Asked): Promise<Question> {
  return asCaller(asked, await asked.random.pick(kinds)(asked));
}
