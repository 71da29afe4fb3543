// Address of the page: /dashboard/SPY?tf=5m&session=2026-11-19.
import { isDate } from './format.ts';
import { type Timeframe, timeframes } from './timeframes.ts';

/** The viewed symbol, timeframe and session. */
export interface View {
  /** Ticker, uppercase. */
  symbol: string;
  timeframe: Timeframe;
  /** A chosen session; null = the latest, live. */
  session: string | null;
}

const ticker = /^[A-Z][A-Z0-9]{0,5}([.\-/ ][A-Z0-9]{1,3})?$/;

/** A text as a ticker, uppercase, with a point before its suffix; null if it cannot be one. */
export function tickerOf(text: string): string | null {
  const upper = text.trim().toUpperCase();
  return ticker.test(upper) ? upper.replace(/[-/ ]/, '.') : null;
}

/** The symbol in a path, unchanged if it is not a ticker; '' = none. */
function symbolOfPath(pathname: string): string {
  const last = pathname.split('/')[2] ?? '';
  try {
    const text = decodeURIComponent(last);
    return tickerOf(text) ?? text.toUpperCase();
  } catch {
    return last.toUpperCase();
  }
}

/** The view in an address. Missing or invalid parts get defaults; the default symbol is `otherwise`. */
export function viewOf({ pathname, search }: { pathname: string; search: string }, otherwise: string): View {
  const asked = new URLSearchParams(search);
  const session = asked.get('session') ?? '';
  return {
    symbol: symbolOfPath(pathname) || otherwise,
    timeframe: timeframes.find((timeframe) => timeframe === asked.get('tf')) ?? '1m',
    session: isDate(session) ? session : null,
  };
}

/** The address of a view. */
export function addressOf({ symbol, timeframe, session }: View): string {
  const asked = new URLSearchParams();
  if (timeframe !== '1m') asked.set('tf', timeframe);
  if (session !== null) asked.set('session', session);
  const query = asked.size > 0 ? `?${asked}` : '';
  return `/dashboard/${encodeURIComponent(symbol)}${query}`;
}
