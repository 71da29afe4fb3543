import { once } from 'node:events';
import { globSync, readFileSync } from 'node:fs';
import { devNull } from 'node:os';
import { basename, join } from 'node:path';
import { describe, expect, onTestFinished, test, vi } from 'vitest';
import { routes } from '../../src/rest/routes.ts';
import { flakyProxy } from '../access/flaky-proxy.ts';
import { program, python, pythonPackage, runPython, startPython } from './python.ts';
import { asked, expectSame, type Read, type RouteCall, routeCalls } from './route-calls.ts';
import type { SampleGateway } from './sample-gateway.ts';

const pythonName = (name: string) => name.replaceAll('-', '_');
const keywords = new Set(['from', 'class']);

/** Tests of the Python package against a gateway. */
export const pythonPackageTests = (gateway: () => SampleGateway) =>
  describe.skipIf(python === null)('the Python package', () => {
    /** The environment of a program that asks the gateway, perhaps through another port. */
    const environment = (url = gateway().app.url) => ({
      TAPEGRAPH_URL: url,
      TAPEGRAPH_KEY: gateway().key,
      KEY: gateway().key,
      SESSION: gateway().session,
    });

    test('keeps what its own tests promise', async () => {
      const { stderr } = await runPython({ args: ['-W', 'error', '-m', 'unittest'] });
      expect(Number(/Ran (\d+) tests/.exec(stderr)![1])).toBeGreaterThan(30);
    });

    // Runs while the market is made.
    const checked = runPython({ args: ['-m', 'mypy', '--cache-dir', devNull, 'tapegraph'] });
    checked.catch(() => {});

    test('has no type error', { timeout: 120_000 }, async () => {
      expect((await checked).stdout).toMatch(/^Success: no issues found in \d+ source files\n$/);
    });

    test('has a method for each route, and no other but those about itself', async () => {
      const { stdout } = await runPython({ args: [program('methods.py')] });
      const own = ['as_of', 'close', 'graph', 'request', 'stream', 'subscribe'];
      const expected = [...routes.map(({ name }) => pythonName(name)), ...own].sort();
      expect(JSON.parse(stdout)).toEqual([expected, expected]);
    });

    interface PythonRead extends Read {
      awaited?: Read;
      tables: Record<string, { columns: string[]; rows: number }>;
    }

    /** Makes calls in one process. `made`: ids of records, by the name that stands for each. */
    async function called(calls: readonly RouteCall[], made: Record<string, string> = {}) {
      const input = calls.map(({ route, params, credential, body }) => ({
        method: pythonName(route.name),
        credential,
        args: Object.fromEntries([
          ...Object.entries(params).map(([name, text]) => [
            keywords.has(name) ? `${name}_` : name,
            text.replace(/\{(\w+)\}/, (whole, id: string) => made[id] ?? whole),
          ]),
          ...(body === undefined ? [] : [['body', body]]),
        ]),
      }));
      const run = { args: [program('route_calls.py')], env: environment(), input: JSON.stringify(input) };
      return JSON.parse((await runPython(run)).stdout) as { answers: PythonRead[]; made: Record<string, string> };
    }

    test('answers each route with what the route answers, awaited or not, and with the rows of CSV', async () => {
      const calls = routeCalls(gateway());
      const [deleting, others] = [
        calls.filter(({ route }) => route.method === 'DELETE'),
        calls.filter(({ route }) => route.method !== 'DELETE'),
      ];
      const { answers, made } = await called(others);
      for (const [index, call] of others.entries()) {
        if (call.route.method !== 'GET') continue;
        const read = answers[index]!;
        expectSame(call, read, await asked(gateway(), call));
        if (call.credential === 'KEY') expectSame(call, read.awaited!, await asked(gateway(), call));
        // The list of usage grows with each request.
        if (call.route.name === 'account-usage') continue;
        for (const [table, found] of Object.entries(read.tables)) await expectRows(call, table, found);
      }
      const deleted = await called(deleting, made);
      expect(deleted.answers.map(({ data }) => Object.keys(data))).toEqual(deleting.map(() => [expect.any(String)]));
    });

    async function expectRows(
      { address, credential }: RouteCall,
      table: string,
      { columns, rows }: { columns: string[]; rows: number },
    ) {
      const query = `${address}${address.includes('?') ? '&' : '?'}`;
      const { bytes } = await gateway().app.get(table === 'rows' ? query : `${query}table=${table}`, {
        credential: credential === 'KEY' ? gateway().key : gateway().session,
        headers: { accept: 'text/csv' },
      });
      const [header, ...lines] = bytes.toString().trimEnd().split('\n');
      expect([address, table, columns]).toEqual([address, table, header!.trim().split(',')]);
      expect([address, table, rows]).toEqual([address, table, lines.length]);
    }

    test('resumes a stream after the connection is lost, without an event lost or sent twice', async () => {
      const { session } = gateway().standing;
      const whole = await runPython({ args: [program('replay.py'), session, '3600'], env: environment() });
      const proxy = await flakyProxy('127.0.0.1', Number(new URL(gateway().app.url).port));
      onTestFinished(() => proxy.takeAway());
      const env = environment(`http://127.0.0.1:${proxy.port}`);
      const child = startPython({ args: [program('replay.py'), session, '1200'], env });
      onTestFinished(() => void child.kill());
      let said = '';
      child.stdout.on('data', (bytes) => {
        said += bytes;
      });
      const over = once(child, 'close');
      await vi.waitFor(() => expect(said.split('\n').length).toBeGreaterThan(20), 20_000);
      await proxy.takeAway();
      const before = said.split('\n').length;
      await proxy.bringBack();
      expect(await over).toEqual([0, null]);
      expect(said.split('\n').length).toBeGreaterThan(before);
      expect(said).toBe(whole.stdout);
    });

    const subscribed = (...args: string[]) =>
      runPython({ args: [program('subscriptions.py'), ...args], env: environment() });
    const resultsOf = (stdout: string) =>
      stdout
        .trimEnd()
        .split('\n')
        .map((line) => JSON.parse(line));

    test('subscribes to the graph, awaited or not, until the end', async () => {
      const { session } = gateway().standing;
      const [first, second] = [await subscribed('replay', session), await subscribed('awaited', session)];
      expect(second.stdout).toBe(first.stdout);
      const results = resultsOf(first.stdout);
      expect(results.at(-1).replay.kind).toBe('end');
      // The stream of the same topic, by another interface.
      const query = new URLSearchParams({
        topics: 'quotes:SPY',
        from: `${session}T10:00`,
        to: `${session}T10:30`,
        speed: '3600',
      });
      const { bytes } = await gateway().app.get(`/v2/stream?${query}`, { credential: gateway().key });
      const spots = [...String(bytes).matchAll(/^event: quotes\n(?:id: .*\n)?data: (.*)$/gm)].map(
        ([, data]) => JSON.parse(data!).spot,
      );
      expect(spots.length).toBeGreaterThan(10);
      expect(results.slice(0, -1).map(({ replay }) => replay.quote.spot)).toEqual(spots);
    });

    test.each(['since', 'anew'])('a subscription that is lost begins %s', async (way) => {
      const { previous } = gateway().standing;
      const proxy = await flakyProxy('127.0.0.1', Number(new URL(gateway().app.url).port));
      onTestFinished(() => proxy.takeAway());
      const child = startPython({
        args: [program('subscriptions.py'), way, previous],
        env: environment(`http://127.0.0.1:${proxy.port}`),
      });
      onTestFinished(() => void child.kill());
      let said = '';
      child.stdout.on('data', (bytes) => {
        said += bytes;
      });
      const results = () => resultsOf(said).map(({ gexCaptured }) => gexCaptured.capturedAt);
      const { data } = await gateway().app.graphql(
        `{ symbol(symbol: "SPY") { gex { latest { capturedAt } } } }`,
        {},
        { credential: gateway().key },
      );
      const { capturedAt: latest } = data.symbol.gex.latest;
      await vi.waitFor(() => expect(results().at(-1)).toBe(latest), 20_000);
      const before = results();
      expect(before.length).toBeGreaterThan(2);
      expect(before).toEqual([...new Set(before)]);
      const asked = proxy.roundTrips();
      await proxy.takeAway();
      await proxy.bringBack();
      await vi.waitFor(() => expect(proxy.roundTrips()).toBeGreaterThan(asked), 20_000);
      if (way === 'since') {
        await new Promise((done) => setTimeout(done, 500));
        expect(results()).toEqual(before);
      } else await vi.waitFor(() => expect(results()).toEqual([...before, ...before]), 20_000);
    });

    test('asks again for a past session by its ETag, and has the answer that it kept', async () => {
      const { previous } = gateway().standing;
      const { stdout } = await runPython({ args: [program('cached.py'), previous], env: environment() });
      const [statuses, different, data] = JSON.parse(stdout);
      expect([statuses, different]).toEqual([[200, 304, 304], 1]);
      const { body } = await gateway().app.get(`/v2/gex/SPY/history?date=${previous}`, { credential: gateway().key });
      expect(data).toEqual(body.data);
    });

    const notebooks = globSync('notebooks/*.ipynb', { cwd: pythonPackage }).sort();

    test('has five notebooks, without outputs', () => {
      expect(notebooks.map((path) => basename(path, '.ipynb'))).toEqual([
        'difference',
        'event_study',
        'flow',
        'gamma_day',
        'own_data',
      ]);
      for (const notebook of notebooks) {
        const { cells } = JSON.parse(readFileSync(join(pythonPackage, notebook), 'utf8'));
        for (const cell of cells.filter((each: { cell_type: string }) => each.cell_type === 'code'))
          expect([cell.outputs, cell.execution_count]).toEqual([[], null]);
      }
    });

    test('has notebooks and a README whose code runs, and whose frames have values', { timeout: 120_000 }, async () => {
      const pages = [...notebooks, 'README.md'];
      const { stdout } = await runPython({ args: [program('notebooks.py'), ...pages], env: environment() });
      const made = JSON.parse(stdout) as Record<string, Record<string, [number, number, boolean]>>;
      expect(Object.keys(made)).toEqual(pages);
      for (const [page, frames] of Object.entries(made)) {
        expect([page, Object.keys(frames).length > 1]).toEqual([page, true]);
        for (const [name, [rows, columns, hasValue]] of Object.entries(frames))
          expect([page, name, rows > 0, columns > 0, hasValue]).toEqual([page, name, true, true, true]);
      }
    });
  });
