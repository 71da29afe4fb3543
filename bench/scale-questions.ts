import { addDays, exchangeInstant } from '../src/core/domain/market-time.ts';
import { capturesASession, classOf, lastSession, type Size, sessionsOf, symbolOf } from './scale-data.ts';

/** One request to a gateway. */
export interface Request {
  path: string;
  body?: string;
}

/** A kind of question, put alike to every size. */
export interface Question {
  name: string;
  /** Number of requests to a gateway that was just started; no two read the same rows. */
  cold: number;
  /** The `nth` variant; `again` makes an address that was not requested before, with the same answer. */
  request: (size: Size, nth: number, again: number) => Request;
}

const sessions = sessionsOf(500);
/** Maps neighbouring numbers to distant ones. */
const scattered = (nth: number, below: number) => ((nth + 1) * 2_654_435_761) % below;
const pastSession = (nth: number) => sessions[scattered(nth, sessions.length - 25)]!;
const underlyingOf = ({ underlyings }: Size, nth: number) => symbolOf(nth % underlyings);

/** The `nth` symbol of those that trade as much, which are the same in every fifty. */
function symbolOfClass({ symbols }: Size, of: number, nth: number): string {
  const alike = Array.from({ length: 50 }, (_, index) => index).filter((index) => classOf(index) === of);
  const fifty = Math.floor(nth / alike.length) % (symbols / 50);
  return symbolOf(fifty * 50 + alike[nth % alike.length]!);
}

const graph = (query: string, variables: object): Request => ({
  path: '/graphql',
  body: JSON.stringify({ query, variables }),
});

const panel = `fragment Panel on Symbol {
  symbol
  quote { spot changePct volume officialClose }
  spot { price ts }
  bars(from: $from, to: $to, timeframe: "5m") { rows { tsMs open high low close volume vwap } }
  gex { latest(topStrikes: 20) { capturedAt spot netGex flipPoint strikes { strike gex callOi putOi } } }
  expirations { dates }
}`;

function dashboard(size: Size, nth: number, again: number): Request {
  const names = Array.from({ length: 25 }, (_, i) => underlyingOf(size, nth * 25 + i));
  const from = String(exchangeInstant(lastSession, 570) - again);
  return graph(
    `query Dashboard($from: PointInTime!, $to: PointInTime!) {
${names.map((name) => `  ${name}: symbol(symbol: "${name}") { ...Panel }`).join('\n')}
}
${panel}`,
    { from, to: String(exchangeInstant(lastSession, 960)) },
  );
}

/** Ten symbols, the `nth` ten of all. */
function quotes({ symbols }: Size, nth: number, again: number): Request {
  const names = Array.from({ length: 10 }, (_, i) => symbolOf((nth * 10 + i) % symbols));
  return { path: `/v2/quotes?symbols=${names.join(',')}&n=${again}` };
}

/** A session's one-minute bars, and the next one's, of symbols that trade often and seldom. */
function bars(size: Size, nth: number, again: number): Request {
  const from = exchangeInstant(pastSession(nth), 570);
  const symbol = symbolOfClass(size, nth % 3, nth);
  return { path: `/v2/stocks/${symbol}/bars?from=${from}&to=${from + 2 * 86_400_000}&limit=1000&n=${again}` };
}

/** The measured requests, the cheapest first: data cached by one is not used by later ones. */
export const questions: readonly Question[] = [
  { name: 'quotes of 10 symbols', cold: 8, request: quotes },
  { name: 'page of minute bars', cold: 20, request: bars },
  {
    name: `GEX history of a session, ${capturesASession} captures`,
    cold: 20,
    request: (size, nth, again) => ({
      path: `/v2/gex/${underlyingOf(size, nth)}/history?date=${pastSession(nth)}&top=20&n=${again}`,
    }),
  },
  {
    name: 'expirations at a past instant',
    cold: 20,
    request: (size, nth, again) => ({
      path: `/v2/chain/${underlyingOf(size, nth)}/expirations?at=${exchangeInstant(pastSession(nth), 960)}&n=${again}`,
    }),
  },
  {
    name: 'large trades of an underlying, newest',
    cold: 20,
    request: (size, nth, again) => ({
      path: `/v2/flow/large-trades?symbol=${underlyingOf(size, nth)}&limit=100&n=${again}`,
    }),
  },
  {
    name: 'large trades of an underlying, past session',
    cold: 20,
    request: (size, nth, again) => ({
      path: `/v2/flow/large-trades?symbol=${underlyingOf(size, nth)}&session=${pastSession(nth)}&n=${again}`,
    }),
  },
  {
    name: 'large trades of all, past session, $1M',
    cold: 4,
    request: (_size, nth, again) => ({
      path: `/v2/flow/large-trades?session=${pastSession(nth)}&min_premium_usd=1000000&limit=5&n=${again}`,
    }),
  },
  { name: 'dashboard of 25 symbols', cold: 1, request: dashboard },
  {
    name: 'symbol search',
    cold: 4,
    request: (_size, nth, again) =>
      graph('query Search($text: String!) { symbols(first: 20, search: $text) { edges { node { symbol name } } } }', {
        text: `z${String.fromCharCode(97 + (nth % 26))}${' '.repeat((again + 1) % 50)}`,
      }),
  },
  { name: 'movers', cold: 1, request: (_size, _nth, again) => ({ path: `/v2/screener/movers?n=${again}` }) },
  {
    name: 'screener of sectors',
    cold: 1,
    request: (_size, _nth, again) => ({ path: `/v2/screener/sectors?n=${again}` }),
  },
];

/** The clock of the gateways: the morning after the last session. */
export const clockMs = exchangeInstant(addDays(lastSession, 1), 8 * 60);
