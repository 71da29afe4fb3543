import http from 'node:http';
import { addDays } from '../../src/core/domain/market-time.ts';
import type { Random } from '../../test/support/random.ts';
import type { Asked, Tally } from './ask.ts';

const symbols = ['SPY', 'QQQ', 'AAPL', 'MSFT', 'NVDA', 'SPX'];

const dashboard = `query Desk($symbol: Ticker!) {
  symbol(symbol: $symbol) {
    name
    quote { spot changePct volume }
    gex { latest(topStrikes: 20) { spot netGex flipPoint callWall putWall strikes { strike gex callOi putOi } } }
    expirations { dates }
    flow { largeTrades(limit: 20) { events { eventTsMs premiumUsd side } } }
  }
  quotes(symbols: ["SPY", "QQQ", "AAPL", "MSFT", "NVDA"]) { rows { symbol spot changePct } }
}`;

/** A dashboard's question to the graph. */
export function dashboardRequest(random: Random): Asked {
  return {
    kind: 'dashboard',
    method: 'POST',
    path: '/graphql',
    body: JSON.stringify({ query: dashboard, variables: { symbol: random.pick(symbols) } }),
  };
}

/** A page of one of the routes that clients read most. `today` is a New York date. */
export function restRequest(random: Random, today: string): Asked {
  const symbol = random.pick(symbols);
  const day = addDays(today, -random.below(8));
  const path = random.pick([
    `/v2/quotes?symbols=${symbols.join(',')}`,
    `/v2/stocks/${symbol}/bars?from=${addDays(day, -3)}&to=${addDays(day, 1)}&timeframe=${random.pick(['1m', '5m', '1h', '1d'])}&limit=1000`,
    `/v2/gex/${symbol}/grid?top=40`,
    `/v2/gex/${symbol}/history?date=${day}&top=10`,
    `/v2/chain/${symbol}/expirations`,
    `/v2/symbols/${symbol}/spot`,
    `/v2/flow/large-trades?symbol=${symbol}&limit=50`,
    `/v2/offexchange/${symbol}/activity`,
    '/v2/screener/movers',
    '/v2/account/usage',
  ]);
  return { kind: 'rest', path };
}

/** A stream that is opened again with its last id whenever it ends. */
export interface StreamReader {
  /** Events read, and how often it was opened. */
  counts: { events: number; opened: number };
  stop(): void;
}

/** Follows quotes, bars and large trades until it is stopped. */
export function followStream(url: string, credential: string, symbol: string, tally: Tally): StreamReader {
  const counts = { events: 0, opened: 0 };
  let stopped = false;
  let lastId: string | null = null;
  let request: http.ClientRequest | null = null;
  const again = () => void (stopped || setTimeout(open, 500));
  function open(): void {
    if (stopped) return;
    counts.opened += 1;
    const started = performance.now();
    let answered = false;
    const headers = { authorization: `Bearer ${credential}`, ...(lastId === null ? {} : { 'last-event-id': lastId }) };
    const seen = (status: number) =>
      tally.record('stream', { status, ms: performance.now() - started, endedAtMs: performance.now(), text: '' });
    request = http.get(
      `${url}/v2/stream?topics=quotes:${symbol},bars:${symbol}:1m,large-trades:${symbol}`,
      { headers, agent: false },
      (response) => {
        answered = true;
        seen(response.statusCode!);
        response.setEncoding('utf8').on('data', (text: string) => {
          counts.events += text.split('\ndata: ').length - 1;
          lastId = [...text.matchAll(/^id: (.+)$/gm)].at(-1)?.[1] ?? lastId;
        });
        response.on('error', () => {});
        response.on('close', again);
      },
    );
    request.on('error', () => {
      if (!answered) {
        seen(0);
        again();
      }
    });
  }
  open();
  return {
    counts,
    stop() {
      stopped = true;
      request?.destroy();
    },
  };
}
