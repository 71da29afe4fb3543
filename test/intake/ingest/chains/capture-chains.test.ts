import { readFileSync } from 'node:fs';
import { gzipSync } from 'node:zlib';
import { describe, expect, it } from 'vitest';
import {
  type CaptureSettings,
  type CaptureWorld,
  captureChains,
  captureChainsOnce,
} from '../../../../src/intake/ingest/chains/capture-chains.ts';
import { ingestFiles } from '../../../../src/intake/ingest/ingest.ts';
import { minuteMs } from '../../../../src/platform/runtime/clock.ts';
import { chainCapturesAt } from '../../../../src/store/chain/chain-captures.ts';
import { saveSeals } from '../../../../src/store/market/session-seals.ts';
import { inTransaction } from '../../../../src/store/rows/transaction.ts';
import { watchChanges } from '../../../../src/store/versions/announcements.ts';
import type { Change } from '../../../../src/store/versions/subjects.ts';
import { type Answer, type ChainServer, chainServer, tagged } from '../../../support/chain-server.ts';
import { modelColumns } from '../../../support/model-columns.ts';
import { hasSharedData, sharedData } from '../../../support/shared-data.ts';
import { storeForThisTest } from '../../../support/store.ts';

const file = 'chains_cboe/rut_20230921_delayed_quotes.json.gz';
const capturedAt = Date.parse('2023-09-21T03:17:42Z');
/** 09:31 of a session, New York. */
const morning = Date.parse('2024-11-26T14:31:00Z');

const settings: CaptureSettings = {
  everyMs: 5 * minuteMs,
  delayMs: 0,
  always: false,
  timeoutMs: 20_000,
  maxBytes: 16 * 1024 * 1024,
  gammaSource: 'vendor',
  rate: 0.045,
  atOnce: 4,
};

/** A chain of few contracts, as the source writes it. */
function smallChain(
  symbol: string,
  stamp = '2024-11-26 14:31:00',
  change: (options: object[]) => unknown[] = (o) => o,
): string {
  const option = (right: string, strike: number) => ({
    option: `${symbol}241220${right}${String(strike * 1000).padStart(8, '0')}`,
    bid: 5,
    ask: 5.2,
    iv: 0.2,
    open_interest: 100,
    volume: 3,
    delta: 0.5,
    gamma: 0.01,
    theta: -0.1,
    vega: 0.2,
    theo: 5.1,
    last_trade_price: 5.1,
    last_trade_time: null,
  });
  const options = change([95, 100, 105].flatMap((strike) => [option('C', strike), option('P', strike)]));
  return JSON.stringify({ timestamp: stamp, data: { options, current_price: 100, prev_day_close: 99 } });
}

/** A world whose clock runs only while it sleeps and `server` has nothing to answer, and stops at `untilMs`. */
function world(startMs: number, untilMs = startMs, server?: ChainServer) {
  const stop = new AbortController();
  const log: string[] = [];
  let nowMs = startMs;
  const say = (_: object, message: string) => void log.push(message);
  const made: CaptureWorld = {
    now: () => nowMs,
    stop: stop.signal,
    random: () => 0,
    async sleep(ms) {
      const dueMs = nowMs + ms;
      do await new Promise((resolve) => setTimeout(resolve, 2));
      while (server && server.open() > 0);
      if (dueMs > nowMs) nowMs = dueMs;
      if (nowMs >= untilMs) stop.abort();
    },
    log: { info: say, warn: say, debug: () => {} },
  };
  return { made, log, stop };
}

const sources = (server: ChainServer, ...symbols: string[]) =>
  symbols.map((symbol) => ({ symbol, url: server.url(symbol) }));

/** Gives the answers one after the other, the last forever. */
function inTurn(...answers: Answer[]): Answer {
  let asked = 0;
  return (request, response) => answers[Math.min(asked++, answers.length - 1)]!(request, response);
}
const status =
  (code: number, headers: Record<string, string> = {}): Answer =>
  (_, response) =>
    response.writeHead(code, headers).end('sorry');
const ok =
  (body: string | Buffer): Answer =>
  (_, response) =>
    response.writeHead(200).end(body);

describe('capturing chains', () => {
  it.skipIf(!hasSharedData)(
    'stores the real chain and its GEX exactly as ingesting its file does, and announces it',
    async () => {
      const [server, store, ingested] = [await chainServer(), await storeForThisTest(), await storeForThisTest()];
      const body = readFileSync(sharedData(file));
      server.serve('RUT', tagged(body, '"1"', { 'content-encoding': 'gzip' }));
      const changes = await watchChanges(store);
      const told: Change[] = [];
      changes.onChange((change) => told.push(change));
      const { made } = world(morning);
      const solving = { ...settings, gammaSource: 'solve' as const };
      expect(await captureChainsOnce(store, sources(server, 'RUT'), solving, made)).toEqual({
        RUT: { captured: 1, unchanged: 0, failed: 0 },
      });
      await expect.poll(() => told).toEqual([{ registry: null, chain: ['RUT'], gex: ['RUT'], provenance: ['RUT'] }]);
      await changes.stop();
      await ingestFiles(ingested, 'chain', [sharedData(file)], { now: () => morning });
      for (const table of ['chain_captures', 'gex_captures', 'symbols']) {
        // The page and the file have the same bytes, but not the same name.
        const rows = ({ pool }: typeof store) =>
          pool
            .query(`SELECT ${modelColumns(table)} FROM ${table} order by 1, 2`)
            .then(({ rows }) => rows.map(({ file_name: _, ...row }) => row));
        expect(await rows(store)).toEqual(await rows(ingested));
        expect(await rows(store)).not.toEqual([]);
      }
      const [chain] = await chainCapturesAt(store, [{ underlying: 'RUT', atMs: morning }]);
      expect(chain).toMatchObject({ capturedAt, spot: 1806.1193, partial: false });
      expect(chain!.rows).toHaveLength(6680);
    },
  );

  it('asks whether its answer still holds, and stores nothing when it does', async () => {
    const [server, store] = [await chainServer(), await storeForThisTest()];
    server.serve('XYZ', tagged(smallChain('XYZ'), '"v1"'));
    const { made, log } = world(morning, morning + 10 * minuteMs);
    const report = await captureChains(store, sources(server, 'XYZ'), settings, made);
    expect(report.XYZ).toEqual({ captured: 1, unchanged: 2, failed: 0 });
    expect(server.requests.map(({ headers }) => headers['if-none-match'])).toEqual([undefined, '"v1"', '"v1"']);
    expect(log).toEqual(['XYZ: captured', 'XYZ: the source has no new chain', 'XYZ: the source has no new chain']);
  });

  it('takes an answer without a tag that brings the same chain for unchanged', async () => {
    const [server, store] = [await chainServer(), await storeForThisTest()];
    server.serve('XYZ', ok(gzipSync(smallChain('XYZ'))));
    const { made } = world(morning, morning + 5 * minuteMs);
    const report = await captureChains(store, sources(server, 'XYZ'), settings, made);
    expect(report.XYZ).toEqual({ captured: 1, unchanged: 1, failed: 0 });
  });

  it.each<[string, Answer, RegExp]>([
    ['answers 500', status(500), /^XYZ: the source answered 500$/],
    ['hangs', () => {}, /^XYZ: no complete answer within 1 s$/],
    [
      'stalls in the middle',
      (_, response) => void response.writeHead(200).write('{"timestamp"'),
      /^XYZ: no complete answer within 1 s$/,
    ],
    [
      'breaks off',
      (_, response) => {
        response.writeHead(200, { 'content-length': '5000' }).write('{"timestamp":');
        setTimeout(() => response.destroy(), 20);
      },
      /^XYZ: the source cannot be read: /,
    ],
    ['ends early', ok(smallChain('XYZ').slice(0, 300)), /^XYZ: not complete JSON/],
    [
      'ends its gzip early',
      ok(gzipSync(smallChain('XYZ')).subarray(0, 100)),
      /^XYZ: the gzip data of the answer is damaged or truncated$/,
    ],
    ['sends a page', ok('<html>Please log in</html>'), /^XYZ: not complete JSON/],
    ['sends other JSON', ok('{"data": []}'), /^XYZ: expected \{"timestamp"/],
    ['sends null', ok('null'), /^XYZ: expected \{"timestamp"/],
    ['sends no contracts', ok(smallChain('XYZ', undefined, () => [])), /^XYZ: the chain has no contracts$/],
    ['sends another’s chain', ok(smallChain('ABC')), /^XYZ: the source returned the chain of ABC$/],
    [
      'sends tomorrow’s chain',
      ok(smallChain('XYZ', '2024-11-27 14:31:00')),
      /^XYZ: the chain has a time in the future: 2024-11-27T14:31:00.000Z$/,
    ],
    ['sends too much', ok(' '.repeat(300_000)), /^XYZ: the answer is over 200000 bytes$/],
    ['sends too much in little', ok(gzipSync(' '.repeat(300_000))), /^XYZ: the answer is over 200000 bytes$/],
  ])('a source that %s fails that symbol alone, and is asked again', async (_, answer, reason) => {
    const [server, store] = [await chainServer(), await storeForThisTest()];
    server.serve('XYZ', inTurn(answer, ok(smallChain('XYZ'))));
    server.serve('OK', ok(smallChain('OK')));
    const { made, log } = world(morning, morning + 6 * minuteMs, server);
    // Short only where it is waited for: a busy machine takes its time.
    const waits = reason.source.includes('within');
    const bounded = { ...settings, timeoutMs: waits ? 1000 : 20_000, maxBytes: 200_000 };
    const report = await captureChains(store, sources(server, 'XYZ', 'OK'), bounded, made);
    expect(report.XYZ).toMatchObject({ captured: 1, failed: 1 });
    expect(report.OK).toMatchObject({ captured: 1 });
    expect(log.filter((line) => reason.test(line))).toHaveLength(1);
    const { rows } = await store.pool.query('select underlying from chain_captures order by 1');
    expect(rows.map(({ underlying }) => underlying)).toEqual(['OK', 'XYZ']);
  });

  it('tries again after pauses that double, and from anew after a success', async () => {
    const [server, store] = [await chainServer(), await storeForThisTest()];
    server.serve(
      'XYZ',
      inTurn(status(503), status(503), status(502), ok(smallChain('XYZ')), status(500), ok(smallChain('XYZ'))),
    );
    const { made, log } = world(morning, morning + 5 * minuteMs);
    await captureChains(store, sources(server, 'XYZ'), settings, made);
    const attempts = log.flatMap((line) => /next attempt \S+T14:(\S+)Z/.exec(line)?.[1] ?? []);
    expect(attempts).toEqual(['31:02.000', '31:06.000', '31:14.000', '35:02.000']);
  });

  it('waits as long as the source asks for, and until the next capture where trying again is of no use', async () => {
    const [server, store] = [await chainServer(), await storeForThisTest()];
    server.serve('SLOW', inTurn(status(429, { 'retry-after': '77' }), ok(smallChain('SLOW'))));
    server.serve('GONE', status(403));
    const { made, log } = world(morning, morning + 5 * minuteMs);
    const report = await captureChains(store, sources(server, 'SLOW', 'GONE'), settings, made);
    expect(report).toMatchObject({ SLOW: { captured: 1, failed: 1 }, GONE: { captured: 0 } });
    expect(log).toContain('SLOW: next attempt 2024-11-26T14:32:17.000Z');
    expect(log).toContain('GONE: next attempt 2024-11-26T14:35:00.000Z');
  });

  it('asks nothing while the market is closed, and captures from the open', async () => {
    const [server, store] = [await chainServer(), await storeForThisTest()];
    server.serve('XYZ', ok(smallChain('XYZ', '2024-11-25 14:31:00')));
    const early = Date.parse('2024-11-25T14:00:00Z');
    const closed = world(early, Date.parse('2024-11-25T14:29:00Z'));
    await captureChains(store, sources(server, 'XYZ'), settings, closed.made);
    expect(server.requests).toEqual([]);
    expect(closed.log).toEqual(['XYZ: the market is closed; first capture 2024-11-25T14:30:00.000Z']);
    const open = world(early, Date.parse('2024-11-25T14:31:00Z'));
    expect((await captureChains(store, sources(server, 'XYZ'), settings, open.made)).XYZ).toMatchObject({
      captured: 1,
    });
  });

  it('keeps what it can of a chain with options it does not understand, and says so', async () => {
    const [server, store] = [await chainServer(), await storeForThisTest()];
    server.serve('XYZ', ok(smallChain('XYZ', undefined, (options) => [...options, { option: 'rubbish' }, null])));
    const { made, log } = world(morning);
    expect((await captureChainsOnce(store, sources(server, 'XYZ'), settings, made)).XYZ).toMatchObject({ captured: 1 });
    expect(log).toContain('XYZ: 2 bad options were skipped');
    const [chain] = await chainCapturesAt(store, [{ underlying: 'XYZ', atMs: morning }]);
    expect(chain).toMatchObject({ partial: true });
    expect(chain!.rows).toHaveLength(6);
  });

  it('leaves a sealed session as it is, says so, and asks again at the next capture', async () => {
    const [server, store] = [await chainServer(), await storeForThisTest()];
    server.serve('XYZ', ok(smallChain('XYZ')));
    await inTransaction(store, (tx) => saveSeals(tx, '2024-11-26', ['XYZ'], morning));
    const { made, log } = world(morning, morning + 11 * minuteMs, server);
    expect(await captureChains(store, sources(server, 'XYZ'), settings, made)).toMatchObject({
      XYZ: { captured: 0, failed: 3 },
    });
    expect(log[0]).toMatch(/^XYZ: 2024-11-26 is sealed for XYZ and cannot be changed/);
    expect(await chainCapturesAt(store, [{ underlying: 'XYZ', atMs: morning }])).toEqual([null]);
  });

  it('goes on when the store fails, and asks for the whole answer again', async () => {
    const [server, store] = [await chainServer(), await storeForThisTest()];
    server.serve('XYZ', tagged(smallChain('XYZ'), '"v1"'));
    await store.pool.query('alter table chain_captures rename to away');
    const { made, log } = world(morning, morning + 5 * minuteMs);
    const { sleep } = made;
    made.sleep = async (ms, stop) => {
      await store.pool.query('alter table if exists away rename to chain_captures');
      await sleep(ms, stop);
    };
    const report = await captureChains(store, sources(server, 'XYZ'), settings, made);
    expect(report.XYZ).toMatchObject({ captured: 1, failed: 1 });
    expect(log[0]).toMatch(/^XYZ: relation "chain_captures" does not exist/);
    expect(server.requests.slice(0, 2).map(({ headers }) => headers['if-none-match'])).toEqual([undefined, undefined]);
  });

  it('stops at once when asked to, with a request in the air', async () => {
    const [server, store] = [await chainServer(), await storeForThisTest()];
    const { made, log, stop } = world(morning, Infinity);
    server.serve('XYZ', () => void setTimeout(() => stop.abort(), 20));
    const report = await captureChains(store, sources(server, 'XYZ', 'XYZ'), { ...settings, timeoutMs: 20_000 }, made);
    expect(report.XYZ).toEqual({ captured: 0, unchanged: 0, failed: 0 });
    expect(log).toEqual([]);
  });

  it('never logs the address, which may hold a secret', async () => {
    const [server, store] = [await chainServer(), await storeForThisTest()];
    const { made, log } = world(morning);
    const facts: object[] = [];
    const { warn } = made.log;
    made.log.warn = (fact, message) => {
      facts.push(fact);
      warn(fact, message);
    };
    const refused = [
      { symbol: 'XYZ', url: 'http://127.0.0.1:1/?key=hunter2' },
      { symbol: 'ABC', url: `${server.url('x')}?key=hunter2` },
    ];
    expect(await captureChainsOnce(store, refused, settings, made)).toMatchObject({
      XYZ: { failed: 1 },
      ABC: { failed: 1 },
    });
    expect(log.join()).toMatch(/ECONNREFUSED|bad port/);
    expect(log.join() + JSON.stringify(facts)).not.toContain('hunter2');
  });
});
