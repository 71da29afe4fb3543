import { exchangeInstant } from '../src/core/domain/market-time.ts';
import { cpuMsOf, type Served, serveSample } from './sample-server.ts';
import { median } from './statistics.ts';

// A dashboard of 25 symbols as of an instant beside the live one, over the sample market: CPU of the server per answer.
// No two documents are alike, so that no cached answer serves them. Cold: instants that nobody asked for before.

const session = '2026-11-19';
const rounds = 7;
const answers = 10;
const openMs = exchangeInstant(session, 600);
const minuteMs = 60_000;

const provenance = 'provenance { dataset ingestedAt files { name sha256 } }';

const panel = (from: number, more: string) => `{
  symbol
  quote { spot changePct volume officialClose }
  spot { price ts }
  bars(from: "${from}", to: "2026-11-20", timeframe: "5m") { rows { tsMs open high low close volume vwap } }
  gex { latest(topStrikes: 20) { capturedAt spot netGex flipPoint strikes { strike gex callOi putOi } ${more} } }
  expirations { dates }
}`;

async function ask({ url, token }: Served, query: string): Promise<Record<string, unknown>> {
  const response = await fetch(`${url}/graphql`, {
    method: 'POST',
    headers: { authorization: `Bearer ${token}`, 'content-type': 'application/json' },
    body: JSON.stringify({ query }),
  });
  const { data, errors } = (await response.json()) as { data: Record<string, unknown>; errors?: unknown };
  if (errors) throw new Error(JSON.stringify(errors));
  return data;
}

/** CPU of an answer, ms. */
async function cpuOf(served: Served, query: () => string): Promise<number> {
  const before = cpuMsOf(served);
  for (let i = 0; i < answers; i++) await ask(served, query());
  return (cpuMsOf(served) - before) / answers;
}

/** Measures a dashboard live, as of one instant again and again, and as of instants that are new. */
export async function asOf(): Promise<void> {
  const served = await serveSample();
  try {
    const { symbols } = await ask(served, '{ symbols(first: 25) { nodes { symbol } } }');
    const tickers = (symbols as { nodes: { symbol: string }[] }).nodes.map(({ symbol }) => symbol);
    let asked = 0;
    const panels = (more = '') => {
      const from = exchangeInstant(session, 570) - ++asked;
      return tickers.map((symbol, i) => `s${i}: symbol(symbol: "${symbol}") ${panel(from, more)}`).join('\n');
    };
    const at = (ms: number) => `{ asOf(at: "${ms}") { ${panels()} } }`;
    let next = 0;
    const ways: Record<string, () => string> = {
      live: () => `{ ${panels()} }`,
      'live, with provenance': () => `{ ${panels(provenance)} }`,
      'as of an instant, warm': () => at(openMs),
      'as of a new instant, cold': () => at(openMs + ++next * minuteMs),
    };
    const taken = new Map<string, number[]>(Object.keys(ways).map((name) => [name, []]));
    // The first round fills what is held of the session for any instant.
    for (let round = 0; round <= rounds; round++)
      for (const [name, query] of Object.entries(ways)) {
        const ms = await cpuOf(served, query);
        if (round > 0) taken.get(name)!.push(ms);
      }
    const live = median(taken.get('live')!);
    for (const [name, values] of taken)
      console.log(
        `dashboard of ${tickers.length} symbols, ${name.padEnd(26)} ${median(values).toFixed(1)} ms of CPU, ${(median(values) / live).toFixed(2)} of live`,
      );
  } finally {
    await served.close();
  }
}
