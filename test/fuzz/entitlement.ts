import type { FuzzRequest } from './request.ts';
import type { Came } from './send.ts';
import { mayRead, type Target } from './target.ts';

/** Names of fields that hold a measure of the market, in the words of REST and of the graph. */
const measures =
  /^(spot|price|open|high|low|close|volume|vwap|bid|ask|last|mark|fmv|iv|delta|gamma|theta|vega|oi|callOi|putOi|call_oi|put_oi|gex|netGex|net_gex|flipPoint|flip_point|deltaAdj|delta_adj|premiumUsd|premium_usd|notional|tradeCount|trade_count|changePct|change_pct)$/;

/** The first measure of the market in a value, as its path; null if there is none. */
export function measureIn(value: unknown, path = ''): string | null {
  if (value === null || typeof value !== 'object') return null;
  for (const [name, each] of Object.entries(value)) {
    const at = `${path}.${name}`;
    if (typeof each === 'number' && measures.test(name)) return at;
    const below = measureIn(each, at);
    if (below) return below;
  }
  return null;
}

/** The symbol an address is about: a ticker, or the underlying of a contract. */
function symbolOf(about: string): string {
  const text = decodeURIComponent(about).toUpperCase();
  const root = /^O:([A-Z]+)\d{6}[CP]\d{8}$/.exec(text)?.[1];
  return root === 'SPXW' ? 'SPX' : (root ?? text);
}

/** Problem of an answer with market data of a symbol that its caller may not read; null if it has none. */
export function restrictedData(
  target: Target,
  request: FuzzRequest,
  { status, headers, text, cut }: Came,
): string | null {
  if (request.about === null || status !== 200 || cut || !/json/.test(headers['content-type'] ?? '')) return null;
  // A header of another credential may have been put in.
  if ('x-api-key' in request.headers || 'authorization' in request.headers) return null;
  let symbol: string;
  try {
    symbol = symbolOf(request.about);
  } catch {
    return null;
  }
  if (mayRead(target, request.credential, symbol)) return null;
  const found = measureIn((JSON.parse(text) as { data?: unknown }).data);
  return found ? `${request.credential} reads ${symbol}: ${found} in ${text.slice(0, 300)}` : null;
}
