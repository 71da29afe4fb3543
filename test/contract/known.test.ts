// Answers of a server are frozen; then corrected files come. As known before, the answers are the same to the byte.
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { Dataset } from '../../src/core/domain/dataset.ts';
import { exchangeInstant } from '../../src/core/domain/market-time.ts';
import { ingestFiles } from '../../src/intake/ingest/ingest.ts';
import { reconcile } from '../../src/intake/ingest/options/reconcile.ts';
import { recompute } from '../../src/intake/ingest/recompute/recompute.ts';
import { filledIn } from '../../src/rest/contract/example.ts';
import { routes } from '../../src/rest/routes.ts';
import { chainCapturesAt, saveChainCapture } from '../../src/store/chain/chain-captures.ts';
import { inTransaction } from '../../src/store/rows/transaction.ts';
import { asGeneration } from '../../src/store/superseded/generation.ts';
import { pruneSuperseded } from '../../src/store/superseded/prune.ts';
import type { Json, TestApp } from '../support/app.ts';
import { asOfFields, toldOfThePast } from '../support/as-of-fields.ts';
import { filledArguments } from '../support/filled-arguments.ts';
import { filledApp, filledContract, filledNowMs } from '../support/filled-market.ts';
import { GraphWalk } from '../support/graph-walk.ts';
import { newYork } from '../support/option-market.ts';
import { temporaryFolder } from '../support/temporary-folder.ts';

const session = '2026-11-30';
const instants = [newYork('2026-11-30', '16:30'), newYork('2026-12-01', '11:00')];
// The nearest level off exchange is refused.
const marketFields = asOfFields(
  new GraphWalk(filledArguments, new Set([...toldOfThePast, 'GexStrike.nearestLevel'])),
  'SPY',
);
const folder = temporaryFolder();
let app: TestApp;
let credential: string;
let files = 0;

function file(lines: readonly string[]): string {
  const path = join(folder(), `${files++}.csv`);
  writeFileSync(path, `${lines.join('\n')}\n`);
  return path;
}
const ns = (minute: number) => `${exchangeInstant(session, minute)}000000`;
const halfHours = Array.from({ length: 13 }, (_, i) => 570 + 30 * i).concat(959);
const optionTape = (price: number) =>
  file([
    'ticker,conditions,correction,exchange,price,sip_timestamp,size',
    ...halfHours.map((minute) => `${filledContract('SPY')},209,0,302,${price},${ns(minute)},9000`),
  ]);
const stockTape = () =>
  file([
    'ticker,conditions,exchange,id,price,sequence_number,sip_timestamp,size,tape,trf_id',
    ...halfHours.map((minute, i) => `SPY,,12,${i},777,${i},${ns(minute)},100,2,0`),
  ]);
/** Replaces the chains of a session, as a corrected file does: each bid and ask is higher by a dollar. */
function correctChains(now: () => number) {
  return inTransaction(app.store, (tx) =>
    asGeneration(tx, now, async () => {
      const times = [newYork(session, '15:55'), newYork(session, '09:40')];
      const stored = await chainCapturesAt(
        app.store,
        times.map((atMs) => ({ underlying: 'SPY', atMs })),
      );
      const more = (price: number | null) => (price === null ? null : price + 1);
      for (const chain of stored) {
        const rows = chain!.rows.map((row) => ({ ...row, bid: more(row.bid), ask: more(row.ask) }));
        expect(await saveChainCapture(tx, { ...chain!, rows })).toBe(true);
      }
    }),
  );
}

/** Every answer: of the graph by its field, of REST by its path. */
async function answers(known: number | null): Promise<Map<string, string>> {
  const found = new Map<string, string>();
  const told = new Set(['known_at', 'read_at_ms', 'cursor', 'startCursor', 'endCursor']);
  const plain = (body: Json) => JSON.stringify(body, (key, value) => (told.has(key) ? undefined : value));
  for (const at of instants) {
    const instant = `at: "${at}"${known === null ? '' : `, known: "${known}"`}`;
    for (const [name, selection] of marketFields) {
      // Their off-exchange parts are not served as known before.
      if (/off-?exchange|levels|screen/i.test(name)) continue;
      const { data, errors } = await app.graphql(`{ asOf(${instant}) { ${selection} } }`, {}, { credential });
      found.set(`${name} at ${at}`, plain({ data, errors }));
    }
    for (const { name, path, example } of routes.filter(
      ({ name: each, instant }) => instant !== null && instant !== 'without known' && each !== 'levels',
    )) {
      const given = Object.entries(example.params).map(([key, text]) => [
        key,
        filledIn(text, {
          symbol: 'SPY',
          contract: filledContract('SPY'),
          session,
          previous: '2026-11-27',
          next: '2026-12-01',
        }),
      ]);
      const asked = path.replace(/:(\w+)/g, (_, key: string) => given.find(([each]) => each === key)![1]!);
      const query = given.filter(([key]) => !path.includes(`:${key}`)).map(([key, text]) => `${key}=${text}`);
      const sent = [...query, `at=${at}`, ...(known === null ? [] : [`known=${known}`])];
      const { status, body } = await app.get(`${asked}?${sent.join('&')}`, { credential });
      found.set(`${name} at ${at}`, plain({ status, body }));
    }
  }
  return found;
}

const knownMs = filledNowMs;
let before: Map<string, string>;
let after: Map<string, string>;
let asKnown: Map<string, string>;

beforeAll(async () => {
  app = await filledApp();
  credential = await app.session();
  before = await answers(null);
  app.clock.nowMs = filledNowMs + 60_000;
  const now = () => app.clock.nowMs++;
  const ingest = async (dataset: Dataset, path: string) => {
    const report = await ingestFiles(app.store, dataset, [path], { now, replace: true });
    expect(report.files[0], dataset).toMatchObject({ status: 'stored' });
  };
  await ingest('stock-trades', stockTape());
  await correctChains(now);
  await ingest('option-trades', optionTape(60));
  const given = { trades: [optionTape(70)], quotes: [], dayAggregates: [] };
  const report = await reconcile(app.store, given, { session, maxErrors: 0, now });
  expect(report).toMatchObject({ status: 'reconciled' });
  await recompute(app.store, 'chain', { symbol: null, from: null, to: null }, { now, rate: 0.02, all: true });
  after = await answers(null);
  asKnown = await answers(knownMs);
}, 600_000);
afterAll(() => app.close());

describe('once a session was corrected, reconciled and computed again', () => {
  test('every answer as known before is the answer of before', () => {
    const differ = [...before].filter(([name, text]) => asKnown.get(name) !== text);
    expect(Object.fromEntries(differ.map(([name]) => [name, asKnown.get(name)]))).toEqual(Object.fromEntries(differ));
    expect(before.size).toBeGreaterThan(100);
  });

  test('without known, answers have the new data', () => {
    const same = new Set([...before].filter(([name, text]) => after.get(name) === text).map(([name]) => name));
    for (const name of ['symbol.quote', 'symbol.gex.latest', 'symbol.chain', 'quotes', 'gex-history', 'stock-bars'])
      expect(same.has(`${name} at ${instants[0]}`), name).toBe(false);
  });

  test('known alone is live, with the knowledge of then', async () => {
    const fields =
      '{ symbol(symbol: "SPY") { bars(timeframe: "1d", from: "2026-11-30", to: "2026-12-01") { rows { close } } } knownAt at }';
    const { data, errors } = await app.graphql(
      `{ then: asOf(known: "${knownMs}") ${fields} now: asOf ${fields} }`,
      {},
      { credential },
    );
    expect(errors).toBeUndefined();
    const closeOf = (asOf: Json) => asOf.symbol.bars.rows[0].close;
    expect(closeOf(data.now)).toBe(777);
    expect(closeOf(data.then)).not.toBe(777);
    expect([data.then.knownAt, data.then.at, data.now.knownAt]).toEqual([knownMs, null, null]);
  });

  test('ids hold both instants, and are read as of them', async () => {
    const at = instants[0]!;
    const query = `{ asOf(at: "${at}", known: "${knownMs}") { symbol(symbol: "SPY") { gex { latest { id netGex } } } } }`;
    const { latest } = (await app.graphql(query, {}, { credential })).data.asOf.symbol.gex;
    const other = (await app.graphql(query.replace(/, known: "\d+"/, ''), {}, { credential })).data.asOf.symbol.gex
      .latest;
    expect(latest.id).not.toBe(other.id);
    expect(latest.netGex).not.toBe(other.netGex);
    for (const { id, netGex } of [latest, other]) {
      const { data } = await app.graphql(
        `{ node(id: "${id}") { id ... on GexCapture { netGex } } }`,
        {},
        { credential },
      );
      expect(data.node).toEqual({ id, netGex });
    }
  });

  test('an answer about a sealed session as known is revalidated, and never another’s', async () => {
    const path = `/v2/gex/SPY/history?date=${session}&top=3`;
    const [then, now] = [`${path}&known=${knownMs}`, path];
    const first = await app.get(then, { credential });
    expect(first.headers.etag).toMatch(/^"/);
    for (let i = 0; i < 3; i++) {
      expect((await app.get(then, { credential })).body.data).toEqual(first.body.data);
      expect((await app.get(now, { credential })).body.data).not.toEqual(first.body.data);
    }
    expect(first.body.meta.known_at).toBe(knownMs);
  });

  test('off-exchange data has no known: 400 in REST, refused in the graph', async () => {
    const { status, body } = await app.get(`/v2/offexchange/SPY/activity?known=${knownMs}`, { credential });
    expect([status, body.error.details]).toEqual([400, { parameter: 'known' }]);
    const query = `{ asOf(known: "${knownMs}") { symbol(symbol: "SPY") { offExchange { activity { rows { date } } } } } }`;
    const { errors } = await app.graphql(query, {}, { credential });
    expect(errors?.[0]?.message).toMatch(/^known: .*off-exchange/);
    const near = `{ asOf(known: "${knownMs}") { symbol(symbol: "SPY") { gex { latest { strikes { nearestLevel { distance } } } } } } }`;
    const nearest = await app.graphql(near, {}, { credential });
    expect(nearest.errors?.[0]?.message).toMatch(/^known: .*off-exchange/);
  });

  test('an instant that has not come is 400; up to a minute ahead it is now', async () => {
    const ask = (known: number) => app.get(`/v2/quotes?symbols=SPY&known=${known}`, { credential });
    const { nowMs } = app.clock;
    expect((await ask(nowMs + 60_000)).body.meta.known_at).toBe(nowMs);
    expect((await ask(nowMs + 60_001)).body.error.details).toEqual({ parameter: 'known' });
  });

  // The last: it removes what the others read.
  test('what was removed is 400 and the oldest generation is named, also where an answer was held', async () => {
    const path = `/v2/gex/SPY/history?date=${session}&top=3&known=${knownMs}`;
    expect((await app.get(path, { credential })).status).toBe(200);
    const { knownFromMs } = await pruneSuperseded(app.store, app.clock.nowMs);
    const { status, body } = await app.get(path, { credential });
    expect([status, body.error.details]).toEqual([400, { parameter: 'known' }]);
    expect(body.error.message).toContain(String(knownFromMs));
    const { status: kept } = await app.get(path.replace(String(knownMs), String(knownFromMs)), { credential });
    expect(kept).toBe(200);
    const { errors } = await app.graphql(`{ asOf(known: "${knownMs}") { at } }`, {}, { credential });
    expect(errors?.[0]?.message).toContain(String(knownFromMs));
  });
});
