import { cpuMsOf, type Served, serveSample } from './sample-server.ts';

// The difference of two captures beside the two captures themselves: CPU of the server per answer, over the sample
// market. A pair that nobody asked for before is computed; one that was asked for is cached with its chains.

const dates = ['2026-11-18', '2026-11-19'] as const;
const pairs = 40;

async function ask({ url, token }: Served, query: string): Promise<{ gex: Record<string, unknown> }> {
  const response = await fetch(`${url}/graphql`, {
    method: 'POST',
    headers: { authorization: `Bearer ${token}`, 'content-type': 'application/json' },
    body: JSON.stringify({ query: `{ symbol(symbol: "SPY") { ${query} } }` }),
  });
  const { data, errors } = (await response.json()) as { data: { symbol: never }; errors?: unknown };
  if (errors) throw new Error(JSON.stringify(errors));
  return data.symbol;
}

/** Times of a session's captures, epoch ms. */
async function capturesOf(served: Served, date: string): Promise<number[]> {
  const { gex } = await ask(served, `gex { history(date: "${date}", top: 1) { captures { capturedAt } } }`);
  return (gex.history as { captures: { capturedAt: number }[] }).captures.map(({ capturedAt }) => capturedAt);
}

/** CPU of an answer, ms, over all pairs. */
async function cpuOf(
  served: Served,
  times: readonly (readonly number[])[],
  query: (pair: readonly number[]) => string,
) {
  const before = cpuMsOf(served);
  for (const pair of times) await ask(served, query(pair));
  return (cpuMsOf(served) - before) / times.length;
}

/** Measures a difference, new and repeated, beside two captures. */
export async function diff(): Promise<void> {
  const served = await serveSample();
  try {
    const [from, to] = await Promise.all(dates.map((date) => capturesOf(served, date)));
    const times = from!.slice(0, pairs).map((time, i) => [time, to![i]!]);
    const rows = '{ netGex strikes { strike gex callOi putOi } }';
    const two = (note: string) => (pair: readonly number[]) =>
      `gex { a${note}: at(time: ${pair[0]}) ${rows} b${note}: at(time: ${pair[1]}) ${rows} }`;
    const both = (note: string) => (pair: readonly number[]) =>
      `gex { d${note}: diff(from: ${pair[0]}, to: ${pair[1]}) { netGex { moved } change { gex spot time volatility openInterest
        strikes { strike gex spot time volatility openInterest } } } }`;
    const figures = {
      'two captures, new': await cpuOf(served, times, two('')),
      'their difference, new': await cpuOf(served, times, both('')),
      'two captures, in another document': await cpuOf(served, times, two('Again')),
      'their difference, in another document': await cpuOf(served, times, both('Again')),
    };
    for (const [what, ms] of Object.entries(figures)) console.log(`${what.padEnd(40)} ${ms.toFixed(1)} ms of CPU`);
  } finally {
    await served.close();
  }
}
