import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { gzipSync } from 'node:zlib';
import { describe, expect, onTestFinished, test, vi } from 'vitest';
import { Client, type StreamEvent } from '../../clients/typescript/src/index.ts';
import type { Route } from '../../src/rest/contract/route.ts';
import { flakyProxy } from '../access/flaky-proxy.ts';
import { generatedFolder, installPackages, runProgram, typeErrors } from '../clients/own-packages.ts';
import { typescriptPackage as folder, installBuiltPackage } from './built-package.ts';
import { bundledPackage } from './bundle.ts';
import { asked, expectSame, type Read, type RouteCall, routeCalls } from './route-calls.ts';
import type { SampleGateway } from './sample-gateway.ts';

const root = join(import.meta.dirname, '../..');
const json = (path: string) => JSON.parse(readFileSync(path, 'utf8'));

type Method = (params: object) => Promise<Read>;
const methodName = ({ name }: Route) => name.replace(/-(\w)/g, (_, letter: string) => letter.toUpperCase());

/** Makes calls in their order, and returns their answers. */
async function called(clients: Record<RouteCall['credential'], Client>, calls: readonly RouteCall[]): Promise<Read[]> {
  const made: Record<string, string> = {};
  const answers: Read[] = [];
  for (const { route, params, credential, body } of calls) {
    const filled = Object.entries(params).map(([name, text]) => [name, made[text.slice(1, -1)] ?? text]);
    const client = clients[credential] as unknown as Record<string, Method>;
    const given = { ...Object.fromEntries(filled), ...(body !== undefined && { body }) };
    const answer = await client[methodName(route)]!(given);
    if (route.name === 'create-key') made.key = answer.data.meta.id;
    if (route.name === 'create-journal-trade') made.trade = answer.data.id;
    answers.push(answer);
  }
  return answers;
}

/** Waits for `count` items of a list that grows. */
const has = (list: readonly unknown[], count: number) =>
  vi.waitFor(() => expect(list.length).toBeGreaterThanOrEqual(count), { timeout: 20_000, interval: 5 });

/** A port of the gateway that the test can take away. */
async function proxied(url: string) {
  const proxy = await flakyProxy('127.0.0.1', Number(new URL(url).port));
  onTestFinished(() => proxy.takeAway());
  return { ...proxy, url: `http://127.0.0.1:${proxy.port}` };
}

/** The program of the README, and what it prints. */
const [, program] = /^```ts\n([\s\S]*?)^```/m.exec(readFileSync(join(folder, 'README.md'), 'utf8'))!;
const printed = [
  '7 captures, archive',
  ...[500, 500].map((rows) => `${rows} bars`),
  '5 strikes',
  '2 quotes',
  'invalid_params',
  'quotes SPY',
  'SPY',
];
// A value that a route does not take is an error of its type.
const mistaken = `${program}
// @ts-expect-error
client.gexFigures({ symbol: 'SPY', unit: 'per_share' });
`;

/** Tests of the TypeScript package against a gateway. */
export const typescriptPackageTests = (gateway: () => SampleGateway) =>
  describe('the TypeScript package', () => {
    const client = (url = gateway().app.url, key = gateway().key) => new Client({ url, key });

    test('answers each route with what the route answers', async () => {
      const calls = routeCalls(gateway());
      const clients = { KEY: client(), SESSION: client(gateway().app.url, gateway().session) };
      const [writing, reading, deleting] = [
        calls.filter(({ route }) => !['GET', 'DELETE'].includes(route.method)),
        calls.filter(({ route }) => route.method === 'GET'),
        calls.filter(({ route }) => route.method === 'DELETE'),
      ];
      await called(clients, writing);
      for (const [index, read] of (await called(clients, reading)).entries())
        expectSame(reading[index]!, read, await asked(gateway(), reading[index]!));
      const own = deleting.filter(({ params }) => !/\{(key|trade)\}/.test(JSON.stringify(params)));
      expect((await called(clients, own)).map(({ data }) => Object.keys(data))).toEqual(
        own.map(() => [expect.any(String)]),
      );
    });

    test('resumes a stream after the connection is lost, without an event lost or sent twice', async () => {
      const { session } = gateway().standing;
      const topics = ['quotes:SPY', 'gex:SPY:2'];
      const replay = { from: `${session}T10:00`, to: `${session}T11:00` };
      const read = async (from: Client, speed: number, found: StreamEvent[]) => {
        for await (const event of from.stream(topics, { ...replay, speed })) found.push(event);
      };
      const proxy = await proxied(gateway().app.url);
      const [whole, resumed]: [StreamEvent[], StreamEvent[]] = [[], []];
      const reading = read(client(proxy.url), 1200, resumed);
      await has(resumed, 20);
      await proxy.takeAway();
      const before = resumed.length;
      await proxy.bringBack();
      await Promise.all([reading, read(client(), 3600, whole)]);
      expect(resumed.length).toBeGreaterThan(before);
      const content = (events: readonly StreamEvent[]) => events.map(({ kind, data }) => ({ kind, data }));
      expect(content(resumed)).toEqual(content(whole));
    });

    test('subscribes over a WebSocket, and again after it is lost', async () => {
      const proxy = await proxied(gateway().app.url);
      const found: unknown[] = [];
      const subscription = client(proxy.url).subscribe('subscription { quotes(symbols: ["SPY"]) { symbol spot } }');
      const reading = (async () => {
        for await (const { data } of subscription) if (found.push(data) === 2) break;
      })();
      await has(found, 1);
      await proxy.takeAway();
      await proxy.bringBack();
      await reading;
      expect(found).toEqual([0, 1].map(() => ({ quotes: { symbol: 'SPY', spot: expect.any(Number) } })));
    });

    test('throws the code of a rejected subscription', async () => {
      const { app } = gateway();
      const free = await app.key({ apiTier: 'free', classification: null });
      const rejected = client(app.url, free).subscribe('subscription { largeTrades(symbol: "SPY") { seq } }');
      await expect(rejected.next()).rejects.toMatchObject({ code: 'not_entitled_tier' });
      const unknown = client(app.url, 'no key').subscribe('subscription { quotes(symbols: ["SPY"]) { spot } }');
      await expect(unknown.next()).rejects.toMatchObject({ code: 'unauthenticated' });
    });

    test('has the version of the gateway, no dependency, and less than 12 kB compressed', async () => {
      const { version, dependencies, peerDependencies } = json(join(folder, 'package.json'));
      const own = json(join(root, 'package.json')).version;
      expect([version, dependencies, peerDependencies]).toEqual([own, undefined, undefined]);
      const { code, imports } = await bundledPackage();
      expect(imports).toEqual([]);
      const bytes = gzipSync(code).length;
      expect(bytes).toBeGreaterThan(2000);
      expect(bytes).toBeLessThan(12_000);
    });

    test('builds to JavaScript with types, which a program imports', { timeout: 300_000 }, async () => {
      const own = generatedFolder('package');
      await Promise.all([installBuiltPackage(own), installPackages()]);
      for (const [name, text] of Object.entries({ program, mistaken })) writeFileSync(join(own, `${name}.ts`), text!);
      expect(await typeErrors(['program.ts', 'mistaken.ts'].map((name) => join(own, name)))).toBe('');
      const { app, key } = gateway();
      vi.stubEnv('TAPEGRAPH_URL', app.url).stubEnv('TAPEGRAPH_KEY', key);
      onTestFinished(() => void vi.unstubAllEnvs());
      expect((await runProgram('generated/package/program.ts')).trimEnd().split('\n')).toEqual(printed);
    });
  });
