import { spawn } from 'node:child_process';
import { afterAll, beforeAll, describe, expect, onTestFinished, test, vi } from 'vitest';
import { type SampleGateway, sampleGateway } from '../client-packages/sample-gateway.ts';
import { generatedFolder, installPackages, programsFolder } from '../clients/own-packages.ts';
import type { Json } from '../support/app.ts';
import { subscribe } from '../support/event-reader.ts';
import { temporaryFolder } from '../support/temporary-folder.ts';
import { allBlocks, type FencedBlock } from './fenced-blocks.ts';

/** Blocks that other tests run, by the start of their place. */
const runElsewhere: Record<string, string> = {
  'docs/clients.md': 'clients.slow.test.ts',
  'clients/python/README.md': 'packages.slow.test.ts',
  'clients/typescript/README.md': 'packages.slow.test.ts',
};

/** Blocks that are parsed and not run, by path and a text that they contain, and why. */
const notRun: readonly (readonly [path: string, contained: string, why: string])[] = [
  ['README.md', 'ingest stock-minute-bars', 'reads files of a vendor'],
  ['docs/graph.md', 'extend schema', 'a schema of another program'],
  ['docs/graph.md', 'rover', "Apollo's program is not on npm"],
  ['docs/mcp.md', 'claude mcp add', 'configures another program'],
  ['docs/operations.md', 'copy-store.sh', 'run by copied-folder.slow.test.ts'],
  ['docs/operations.md', 'hive_partitioning', 'run by parquet-readers.slow.test.ts'],
  ['docs/own-routes.md', 'npm start', 'the server of these tests has the route'],
  ['docs/own-routes.md', 'query ($symbol', 'the document of that route'],
  ['docs/media.md', 'pyarrow', 'its packages weigh 150 MB'],
  ['docs/streams.md', 'largeTrades(', 'sends what is stored from then on, and nothing is'],
];
const excuse = (block: FencedBlock) =>
  notRun.find(([path, contained]) => block.path === path && block.source.includes(contained));

const blocks = allBlocks().filter(({ path }) => !(path in runElsewhere));
const ofLanguage = (...languages: string[]) =>
  blocks
    .filter((block) => languages.includes(block.language) && !excuse(block))
    .map((block): [string, FencedBlock] => [block.place, block]);
const blockOf = (path: string, language: string) =>
  blocks.find((block) => block.path === path && block.language === language)!.source;

let gateway: SampleGateway;
const folder = temporaryFolder();
const cwd = generatedFolder('blocks');
beforeAll(async () => {
  const routes = {
    'gamma-day.graphql': blockOf('docs/own-routes.md', 'graphql'),
    'gamma-day.json': blockOf('docs/own-routes.md', 'json'),
  };
  [gateway] = await Promise.all([sampleGateway(folder(), { routes }), installPackages()]);
  const put = (path: string, body: object) =>
    gateway.app.send('PUT', path, { credential: gateway.key, body: JSON.stringify(body) });
  const { app } = gateway;
  const trade = {
    account_id: 'main',
    symbol: 'SPY',
    side: 'buy',
    qty: 10,
    price: 636.5,
    ts: app.clock.nowMs - 12 * 3_600_000,
  };
  await put('/v2/journal/accounts/main', { name: 'Main' });
  await put('/v2/journal/trades/first', trade);
  await put('/v2/watchlists/funds', { name: 'Funds', symbols: ['SPY'] });
  await put('/v2/screener/screens/falling', { name: 'Falling', where: '{"changePct":{"lt":0}}' });
}, 600_000);
afterAll(() => gateway.app.close());

/** Values of the variables of the documents' GraphQL. */
function variables(): Record<string, unknown> {
  const { session, previous } = gateway.standing;
  return {
    session,
    previous,
    from: `${session}T15:30`,
    open: `${session}T10:00`,
    close: `${session}T15:45`,
    known: gateway.app.clock.nowMs,
  };
}

/** Parts of an answer that are empty if all is well. */
const besideRows = new Set(['meta', 'refused', 'undecided']);

/** Paths of the empty lists of an answer, and of the objects without a value. */
function emptyPlaces(value: Json, path = ''): string[] {
  if (value === null || typeof value !== 'object') return [];
  const parts = Object.entries<Json>(value).filter(([name]) => !besideRows.has(name));
  if (parts.every(([, part]) => part === null)) return [path];
  return parts.flatMap(([name, part]) => emptyPlaces(part, `${path}.${name}`));
}

describe('a block of GraphQL answers with rows', () => {
  test.each(ofLanguage('graphql'))('%s', async (_, { source }) => {
    const { app, key } = gateway;
    if (source.startsWith('subscription')) {
      const reader = await subscribe(app.url, key, source, variables());
      onTestFinished(() => reader.leave());
      const first = await reader.next();
      expect(first).toMatchObject({ event: 'next' });
      expect(emptyPlaces(first!.data)).toEqual([]);
      return;
    }
    const { data, errors } = await app.graphql(source, variables(), { credential: key });
    expect(errors).toBeUndefined();
    expect(emptyPlaces(data)).toEqual([]);
  });
});

/** Output of a block of shell: all, or the first of a stream that has no end. */
async function printed({ source }: FencedBlock, isEnough: (said: string) => boolean): Promise<string> {
  const { app, key } = gateway;
  // A failed request fails the block, and nothing but answers is printed.
  const shell = `set -e\ncurl() { command curl --fail-with-body --silent --show-error "$@"; }\n`;
  const script = shell + source.replaceAll('http://127.0.0.1:4000', app.url);
  const PATH = `${programsFolder(cwd)}:${process.env.PATH}`;
  const child = spawn('bash', ['-c', script], {
    cwd,
    detached: true,
    env: { ...process.env, PATH, KEY: key, URL: app.url },
  });
  onTestFinished(() => void (child.exitCode === null && process.kill(-child.pid!)));
  let said = '';
  for (const stream of [child.stdout, child.stderr]) stream.on('data', (bytes) => (said += bytes));
  await vi.waitFor(() => expect(child.exitCode !== null || isEnough(said)).toBe(true), 30_000);
  if (child.exitCode !== null) expect([said, child.exitCode]).toEqual([said, 0]);
  return said;
}

describe('a block of shell answers with rows', () => {
  test.each(ofLanguage('sh'))('%s', async (_, block) => {
    const said = await printed(block, (text) => block.source.includes('curl -N') && /^event: (?!ready)/m.test(text));
    for (const answer of said.split('\n').filter((line) => /^(data: )?[{[]/.test(line)))
      expect(emptyPlaces(JSON.parse(answer.replace(/^data: /, '')))).toEqual([]);
    expect(said).toMatch(/\d/);
  });
});

test('every widget of OpenBB answers with rows by the values that it starts with', async () => {
  const { app, key } = gateway;
  const { body: widgets } = await app.get('/widgets.json', { credential: null });
  const empty: string[] = [];
  for (const [id, { endpoint, params }] of Object.entries<Json>(widgets)) {
    const values = params
      .filter(({ value }: Json) => value !== null)
      .map(({ paramName, value }: Json) => [paramName, String(value).replace('$currentDate', '2026-11-20')]);
    const { status, body } = await app.get(`/${endpoint}?${new URLSearchParams(values)}`, { credential: key });
    if (status !== 200 || body.length === 0) empty.push(`${id} ${status}`);
  }
  expect(empty).toEqual([]);
});

test('every excuse is of a block', () => {
  const excused = new Set(blocks.map(excuse));
  expect(notRun.filter((each) => !excused.has(each))).toEqual([]);
});
