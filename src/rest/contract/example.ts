import { nextTradingDay, previousTradingDay } from '../../core/domain/calendar.ts';
import { marketClock } from '../../core/domain/market-clock.ts';
import { exchangeDate, type SessionDate } from '../../core/domain/market-time.ts';

/** Texts of a request: its parameters by name, and a body. */
export interface RequestTexts {
  params: Readonly<Record<string, string>>;
  body?: string;
}

/**
 * A request that a route answers with 200. The sender replaces texts in braces: `{symbol}` a ticker, `{contract}` an
 * option contract, `{session}` a session with data, `{previous}` the one before, `{next}` the trading day after it,
 * `{expiry}` an expiration date; `{key}`, `{trade}`, `{account}`, `{watchlist}`, `{screen}` and `{import}` the id of
 * a record of that kind.
 */
export interface Example extends RequestTexts {
  /** The request that the reference page shows instead: values and filters that suit the sample market. */
  shown: Partial<RequestTexts>;
}

/** The example of a route as it declares it, with the parameters of its path: `:symbol` is `{symbol}`. */
export function exampleOf(path: string, { params, shown = {}, ...body }: Partial<Example>): Example {
  const inPath = [...path.matchAll(/:(\w+)/g)].map(([, name]) => [name!, `{${name}}`]);
  return { params: { ...Object.fromEntries(inPath), ...params }, ...body, shown };
}

/** Replaces the texts in braces; an unknown one is unchanged. */
export function filledIn(text: string, values: Readonly<Partial<Record<string, string>>>): string {
  return text.replace(/\{(\w+)\}/g, (whole, name: string) => values[name] ?? whole);
}

/** Values for the braces of examples, by name; unknown ids are absent. */
export type Standing = Readonly<Record<'symbol' | 'session' | 'previous' | 'next' | 'expiry' | 'contract', string>> &
  Readonly<Partial<Record<'key' | 'trade' | 'account' | 'watchlist' | 'screen' | 'import', string>>>;

const dayMs = 86_400_000;

/** The first third Friday at least two weeks after `nowMs`: a day on which options on most symbols expire. */
function monthlyExpiry(nowMs: number): SessionDate {
  for (let ms = nowMs + 14 * dayMs; ; ms += dayMs) {
    const date = exchangeDate(ms);
    const day = new Date(`${date}T00:00:00Z`);
    if (day.getUTCDay() === 5 && day.getUTCDate() >= 15 && day.getUTCDate() <= 21) return date;
  }
}

/** Values of the braces at `nowMs`: the latest session that has begun, and the ids that examples choose. */
export function standingAt(nowMs: number): Standing {
  const expiry = monthlyExpiry(nowMs);
  const contract = `O:SPY${expiry.slice(2).replaceAll('-', '')}C00640000`;
  const session = marketClock(nowMs).sessionDate;
  return {
    symbol: 'SPY',
    session,
    previous: previousTradingDay(session),
    next: nextTradingDay(session),
    expiry,
    contract,
    account: 'paper',
    watchlist: 'funds',
    screen: 'falling',
    import: 'first',
  };
}
