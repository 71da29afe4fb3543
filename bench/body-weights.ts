import { bodyEndpoints } from '../test/support/body-endpoints.ts';
import { randomOf } from '../test/support/random.ts';
import { type Cost, CostMeter } from './body-costs.ts';
import { besideSenders, type Waits } from './body-neighbours.ts';
import { shapeClient, shapesOf } from './body-shapes.ts';
import { pageOfBars } from './graph-cpu.ts';
import { mostMoreMb, residentMb } from './resident.ts';
import { type Served, serveSample } from './sample-server.ts';

// CPU cost of a body, its variables and the errors about them per charged request, beside a page of 1,000 bars: shapes
// that each endpoint has of its own, and random bodies. Then the memory they leave behind, and the waiting time of a
// light client beside the senders of the costliest ones.

/** Random bodies of each endpoint, and the number of the first. */
const randomCount = Number(process.env.BODY_COUNT ?? 2000);
const first = Number(process.env.BODY_SEED ?? 20261125);
const only = process.env.BODY_ONLY ?? '';
const shown = Number(process.env.BODY_SHOWN ?? 15);
/** Shapes that are measured between two measurements of the page. */
const shapesAPage = 6;

/**
 * Upper bounds: CPU of a charge over that of the page, megabytes, p99 beside others over that alone, and bytes of the
 * list of tools, which a model holds.
 */
const bounds = { ratio: 3, secondPassMb: 5, p99: 2, toolListBytes: 60_000 };

const broken: string[] = [];
function requireThat(holds: boolean, what: string): void {
  if (!holds) broken.push(what);
}

function print({ name, ratio, cpuMs, requests, bytes, status }: Cost): void {
  const figures = `${cpuMs.toFixed(1)} ms, ${requests.toFixed(0)} requests, status ${status ?? '–'}, ${bytes} bytes`;
  console.log(`  ${ratio.toFixed(2)} (${figures}) ${name}`);
}

async function measuredShapes({ url, token }: Served, meter: CostMeter): Promise<Cost[]> {
  const shapes = shapesOf(shapeClient(url, token), token).filter(({ name }) => name.includes(only));
  const found: Cost[] = [];
  for (const [i, shape] of shapes.entries()) {
    if (i % shapesAPage === 0) await meter.page();
    found.push(await meter.cost(shape));
  }
  found.sort((a, b) => b.ratio - a.ratio);
  console.log(
    `CPU of a charge, over that of a page of 1,000 bars (${meter.pageMs.toFixed(2)} ms): ${found.length} shapes`,
  );
  found.slice(0, shown).forEach(print);
  return found;
}

async function searched(meter: CostMeter): Promise<Cost[]> {
  const found: Cost[] = [];
  for (const endpoint of bodyEndpoints.filter(({ name }) => name.includes(only))) {
    const { dearest, dearestTogether, mean, tooLarge, failed } = await meter.search(endpoint, randomCount, first);
    found.push(...dearest);
    console.log(
      `${endpoint.name}, ${randomCount} random bodies: ${mean.toFixed(2)} of a page on average, ` +
        `${dearestTogether.toFixed(2)} the dearest 50 together; ${tooLarge} answers too large, ${failed} failed`,
    );
    dearest.slice(0, 2).forEach(print);
    requireThat(mean <= bounds.ratio, `${endpoint.name}: bodies cost ${mean.toFixed(2)} on average`);
    requireThat(tooLarge + failed === 0, `${endpoint.name}: answers too large or failed`);
  }
  return found;
}

/**
 * Sends small bodies to every endpoint, and reads pages, chains and histories until the heap has grown to what it takes
 * by ordinary requests: what is resident after that is what bodies are held against.
 */
async function warm(server: Served): Promise<void> {
  const { url, token } = server;
  for (const { make } of bodyEndpoints)
    for (let i = 0; i < 100; i++) await make(randomOf(i), 4000)({ url, session: token });
  const client = shapeClient(url, token);
  for (let i = 0; i < 1500; i++) {
    const body = JSON.stringify({ query: pageOfBars('2026-11-10', '2026-11-20'), variables: { i } });
    await client.send('POST', '/graphql', { body });
    if (i % 3 === 0) await client.send('GET', `/v2/chain/SPY?i=${i}`);
    if (i % 50 === 0) await client.send('GET', `/v2/gex/SPY/history?date=2026-11-19&i=${i}`);
  }
}

/** Sends as many random bodies to every endpoint as the search does, others than those, one after the other. */
async function passAgain({ url, token }: Served): Promise<void> {
  const send = async ({ make }: (typeof bodyEndpoints)[number]) => {
    for (let number = first + randomCount; number < first + 2 * randomCount; number++)
      await make(randomOf(number))({ url, session: token });
  };
  for (const endpoint of bodyEndpoints.filter(({ name }) => name.includes(only))) await send(endpoint);
}

/** Measures the list of tools that an MCP client reads first: its bytes and its CPU time. */
async function toolList({ url, token }: Served, meter: CostMeter): Promise<Cost> {
  const client = shapeClient(url, token);
  const headers = { accept: 'application/json, text/event-stream' };
  const body = JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'tools/list' });
  const send = async () => {
    const { status, bytes } = await client.send('POST', '/mcp', { headers, body });
    return { status, bytes: bytes.length };
  };
  const cost = await meter.cost({ name: 'tools/list, POST /mcp', send });
  console.log('The list of tools, whose CPU is over that of the page');
  print(cost);
  requireThat(cost.bytes <= bounds.toolListBytes, `tools/list: ${cost.bytes} bytes`);
  return cost;
}

/** The dearest of a charge, and the dearest of all. */
function worst(found: readonly Cost[]): string[] {
  const by = (of: (cost: Cost) => number) => found.toSorted((a, b) => of(b) - of(a)).slice(0, 2);
  return [...new Set([...by(({ ratio }) => ratio), ...by(({ cpuMs }) => cpuMs)].map(({ name }) => name))];
}

/** Looks for bodies, variables and errors that take more CPU for a request than a page of bars. */
export async function bodyWeights(): Promise<void> {
  const server = await serveSample();
  try {
    const meter = new CostMeter(server);
    await warm(server);
    for (let i = 0; i < 5; i++) await meter.page();
    const idleMb = await residentMb(server, 'before');
    const found = [
      await toolList(server, meter),
      ...(await measuredShapes(server, meter)),
      ...(randomCount > 0 ? await searched(meter) : []),
    ];
    for (const { ratio, name } of found)
      requireThat(ratio <= bounds.ratio, `${name}: ${ratio.toFixed(2)} times the page`);
    // The heap and the C library's arenas grow to the peak of the largest bodies, and stay there. Growth in a second
    // pass would recur in every other.
    const onceMb = await residentMb(server, 'after');
    requireThat(onceMb - idleMb <= mostMoreMb, `${(onceMb - idleMb).toFixed(0)} MB more`);
    await passAgain(server);
    const moreMb = (await residentMb(server, 'after as many again')) - onceMb;
    requireThat(moreMb <= bounds.secondPassMb, `a second pass leaves ${moreMb.toFixed(0)} MB more`);
    for (const name of worst(found)) {
      const { alone, beside, ratio, answers } = await besideSenders(server, name);
      const text = ({ ms, cpuMs }: Waits) => `${ms.toFixed(1)} ms (${cpuMs.toFixed(1)} ms of CPU)`;
      console.log(
        `a light client beside two senders of "${name}" (${answers} answers): ` +
          `p99 ${text(beside)}, alone ${text(alone)}: ${ratio.toFixed(2)} times`,
      );
      requireThat(ratio <= bounds.p99, `a light client waits ${ratio.toFixed(2)} times as long beside "${name}"`);
    }
  } finally {
    await server.close();
  }
  if (broken.length > 0) throw new Error(`not held:\n  ${broken.join('\n  ')}`);
}
