import { setImmediate as immediate } from 'node:timers/promises';
import { buildSchema, type GraphQLObjectType, getOperationAST, parse } from 'graphql';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { examplesAt } from '../../src/graphql/examples.ts';
import { execute } from '../../src/graphql/execution/execute.ts';
import { PreparedOperation } from '../../src/graphql/execution/prepared-operation.ts';
import { written } from '../../src/graphql/execution/sliced-execution.ts';
import { OverLimit, Pieces } from '../../src/graphql/execution/sliced-work.ts';
import { coerceVariables } from '../../src/graphql/execution/variables.ts';
import { operationWeights, type Prediction } from '../../src/graphql/limits/weighed-operation.ts';
import { jsonBuffers } from '../../src/platform/wire/json-chunks.ts';
import { schema } from '../../src/schema/index.ts';
import type { TestApp } from '../support/app.ts';
import { filledApp, filledContract } from '../support/filled-market.ts';

/** A graph of which `read` takes as long as a test lets it. */
const small = buildSchema('type Query { read(n: Int!, of: [Int!]): Read } type Read { n: Int name: String }');

interface Reading {
  n: number;
  done: (failure?: Error) => void;
}

/** Runs a document over a graph whose reads are held until they are released. */
function held(source: string, items: Record<string, number>, limits = { characters: Infinity, ms: Infinity }) {
  const reading: Reading[] = [];
  const calls: number[] = [];
  let turns = 0;
  let nowMs = 0;
  small.getQueryType()!.getFields().read!.resolve = (_root, { n }) => {
    calls.push(n);
    return new Promise((resolve, reject) =>
      reading.push({ n, done: (failure) => (failure ? reject(failure) : resolve({ n, name: `n${n}` })) }),
    );
  };
  const pieces = new Pieces({
    limits,
    now: () => nowMs,
    lightMs: 1e9,
    turn: async () => {
      turns++;
      await immediate();
    },
  });
  const operation = new PreparedOperation(small, parse(source), null, { isWritten: true, absent: new Set() });
  const values = {
    rootValue: undefined,
    contextValue: {},
    variableValues: {},
    inFlight: new Map(Object.entries(items)),
  };
  const answer = pieces.run(async () => written(await execute(operation, values, pieces), pieces));
  answer.catch(() => {});
  const settle = async () => {
    for (let i = 0; i < 5; i++) await immediate();
  };
  return {
    calls,
    answer,
    settle,
    turns: () => turns,
    pass: (ms: number) => {
      nowMs += ms;
    },
    async release(n: number, failure?: Error) {
      const at = reading.findIndex((each) => each.n === n);
      reading.splice(at, 1)[0]!.done(failure);
      await settle();
    },
  };
}

const textOf = ({ data }: ReturnType<typeof written>) => JSON.parse(Buffer.concat(jsonBuffers(data!)).toString());

describe('fields of the root', () => {
  test('start at once while their items are few, so that their reads are batched', async () => {
    const source = '{ a: read(n: 1) { n } b: read(n: 2) { n } c: read(n: 3) { n } }';
    const { calls, settle, release, answer, turns } = held(source, { a: 600, b: 600, c: 800 });
    await settle();
    expect(calls).toEqual([1, 2, 3]);
    for (const n of [3, 1, 2]) await release(n);
    expect(textOf(await answer)).toEqual({ a: { n: 1 }, b: { n: 2 }, c: { n: 3 } });
    expect(turns()).toBe(0);
  });

  test('wait in their order for room, each after a turn of the lane; a larger one runs alone', async () => {
    const source = '{ a: read(n: 1) { n } b: read(n: 2) { n } c: read(n: 3) { n } d: read(n: 4) { n } }';
    const { calls, settle, release, answer, turns } = held(source, { a: 1500, b: 9000, c: 400, d: 100 });
    await settle();
    // `c` would fit beside `a`, but comes after `b`.
    expect(calls).toEqual([1]);
    await release(1);
    expect(calls).toEqual([1, 2]);
    const turnsOfLarge = turns();
    expect(turnsOfLarge).toBeGreaterThan(0);
    await release(2);
    expect(calls).toEqual([1, 2, 3, 4]);
    expect(turns()).toBeGreaterThan(turnsOfLarge);
    for (const n of [3, 4]) await release(n);
    expect(Object.keys(textOf(await answer))).toEqual(['a', 'b', 'c', 'd']);
  });

  test('start when those before have ended, also if their items are fractions', async () => {
    const { calls, settle, release } = held('{ a: read(n: 1) { n } b: read(n: 2) { n } c: read(n: 3) { n } }', {
      a: 0.1,
      b: 0.2,
      c: 9000,
    });
    await settle();
    await release(1);
    await release(2);
    expect(calls).toEqual([1, 2, 3]);
  });

  test('that wait do not start once the limit of time is reached', async () => {
    const source = '{ a: read(n: 1) { n } b: read(n: 2) { n } }';
    const { calls, settle, release, answer, pass } = held(source, { a: 2000, b: 1 }, { characters: Infinity, ms: 50 });
    await settle();
    pass(51);
    await release(1);
    await expect(answer).rejects.toBeInstanceOf(OverLimit);
    expect(calls).toEqual([1]);
  });

  test('that fail leave room for the next', async () => {
    const source = '{ a: read(n: 1) { n } b: read(n: 2) { n } }';
    const { calls, settle, release, answer } = held(source, { a: 2000, b: 2000 });
    await settle();
    await release(1, new Error('no chain'));
    expect(calls).toEqual([1, 2]);
    await release(2);
    const { errors } = await answer;
    expect(errors.map(({ message, path }) => [message, path])).toEqual([['no chain', ['a']]]);
    expect(textOf(await answer)).toEqual({ a: null, b: { n: 2 } });
  });

  test('run once if they are equal, whatever their names, and again with other arguments', async () => {
    const source = `{ ${Array.from({ length: 50 }, (_, i) => `a${i}: read(of: [1, 2], n: 1) { n x${i}: name }`).join(' ')}
      other: read(n: 1, of: [2, 1]) { n } }`;
    const { calls, settle, release, answer } = held(source, {});
    await settle();
    expect(calls).toEqual([1, 1]);
    await release(1);
    await release(1);
    const data = textOf(await answer);
    expect(data.a49).toEqual({ n: 1, x49: 'n1' });
    expect(data.other).toEqual({ n: 1 });
  });
});

const weigh = operationWeights(schema);

async function predicted(query: string, variables: Record<string, unknown> = {}): Promise<Prediction> {
  const document = parse(query);
  const { coerced } = await coerceVariables(schema, getOperationAST(document)!, variables);
  return weigh(document, null).predict(coerced!, { kind: 'key' });
}

describe('items in flight', () => {
  test('are those that are looked up: contracts by their ids, however little of them is selected', async () => {
    const ids = Array.from({ length: 250 }, () => filledContract('SPY'));
    const query =
      'query($c: [OptionContractId!]!) { a: contracts(ids: $c) { meta { count } } b: asOf { c: contracts(ids: $c) { meta { count } } } }';
    const items = (await predicted(query, { c: ids })).inFlight()!;
    expect([...items.keys()]).toEqual(['a', 'b.c']);
    for (const count of items.values()) expect(count).toBeCloseTo(250, -1);
  });

  test('of every example are few enough to start at once', async () => {
    for (const { name, query } of examplesAt(Date.parse('2026-11-20T17:00Z'))) {
      if (getOperationAST(parse(query))?.operation !== 'query') continue;
      const items = [...((await predicted(query).catch(() => null))?.inFlight()?.values() ?? [])];
      expect(
        items.reduce((sum, count) => sum + count, 0),
        name,
      ).toBeLessThanOrEqual(2000);
    }
  });
});

describe('over HTTP', () => {
  let app: TestApp;
  beforeAll(async () => {
    app = await filledApp();
  });
  afterAll(() => app.close());

  const contract = filledContract('SPY');

  test('ids that arguments name are at most 1,000 over all names: 400 naming the argument, as the estimate says', async () => {
    const query = `query Q($c: [OptionContractId!]!) { ${['b', 'd'].map((key) => `${key}: asOf { ...F }`).join(' ')} }
      fragment F on AsOf { ${Array.from({ length: 100 }, (_, i) => `a${i}: contracts(ids: $c) { meta { count } }`).join(' ')} }`;
    const variables = { c: Array.from({ length: 250 }, () => contract) };
    const { answer, errors } = await app.graphql(query, variables);
    expect(answer.status).toBe(400);
    const details = { limit: 'ids', counted: 50_000, most: 1000, parameter: 'ids' };
    expect(errors![0].extensions).toMatchObject({ code: 'invalid_params', details });
    expect(errors![0].message).toBe('ids: the document names 50,000 ids over all its fields; at most 1,000.');
    const estimate = await app.send('POST', '/graphql?cost', { body: JSON.stringify({ query, variables }) });
    expect(estimate.body.limits.ids).toEqual({ counted: 50_000, most: 1000 });
    expect(estimate.body.refused[0]).toMatchObject({
      code: 'invalid_params',
      status: 400,
      message: errors![0].message,
    });
  });

  test('a document of more than is in flight answers as one of its parts does', async () => {
    const one = 'symbol(symbol: "SPY") { chain { rows { contract { id } bid } } }';
    const names = ['a', 'b', 'c'];
    const query = `{ ${names.map((name) => `${name}: ${one}`).join(' ')}
      past: asOf(at: "2026-12-01T12:00") { ${one} } quotes(symbols: ["SPY"]) { rows { symbol } } }`;
    expect((await predicted(query)).inFlight()!.get('b')).toBeGreaterThan(2000);
    const { data, errors } = await app.graphql(query);
    expect(errors).toBeUndefined();
    expect(Object.keys(data)).toEqual([...names, 'past', 'quotes']);
    for (const name of names) expect(data[name]).toEqual(data.a);
    expect(data.a.chain.rows.length).toBeGreaterThan(0);
    expect(data.past.symbol.chain.rows.length).toBeGreaterThan(0);
  });
});

describe('items of lists', () => {
  const listed = buildSchema('type Query { list: [Item!]! } type Item { read: Int inner: [Item!]! }');

  /** Runs a document over lists of items whose reads are batched; counts the batches, and the reads in flight. */
  async function answered(source: string, lengths: { list: number; inner: number }) {
    const pieces = new Pieces({
      limits: { characters: Infinity, ms: Infinity },
      now: () => performance.now(),
      turn: () => immediate(),
    });
    const inFlight = { now: 0, most: 0 };
    const batches: number[] = [];
    let batch: (() => void)[] = [];
    const readAll = () => {
      const all = batch;
      batch = [];
      batches.push(all.length);
      setImmediate(() => {
        inFlight.now -= all.length;
        for (const done of all) done();
      });
    };
    const items = (length: number) => () => Array.from({ length }, (_, i) => ({ i }));
    listed.getQueryType()!.getFields().list!.resolve = items(lengths.list);
    Object.assign(objectFields('Item').inner!, { resolve: items(lengths.inner) });
    Object.assign(objectFields('Item').read!, {
      resolve: ({ i }: { i: number }, _args: unknown, _context: unknown) =>
        new Promise((resolve) => {
          inFlight.most = Math.max(inFlight.most, ++inFlight.now);
          if (batch.push(() => resolve(i)) === 1) pieces.batch(readAll);
        }),
    });
    const operation = new PreparedOperation(listed, parse(source), null, { isWritten: true, absent: new Set() });
    const values = { rootValue: undefined, contextValue: {}, variableValues: {} };
    const result = await pieces.run(async () => written(await execute(operation, values, pieces), pieces));
    return { data: textOf(result), batches, most: inFlight.most };
  }

  const objectFields = (name: string) => (listed.getType(name) as GraphQLObjectType).getFields();

  test('at most 5,000 are awaited at a time, over all lists of a document', async () => {
    const names = ['a', 'b', 'c', 'd'];
    const source = `{ ${names.map((name) => `${name}: list { read }`).join(' ')} }`;
    const { data, batches, most } = await answered(source, { list: 8000, inner: 0 });
    for (const name of names) {
      expect(data[name]).toHaveLength(8000);
      expect(data[name][7999]).toEqual({ read: 7999 });
    }
    // Each list has begun, and has at least one.
    expect(most).toBeLessThan(5000 + names.length);
    expect(batches.length).toBeLessThan(20);
  });

  test('few are read in one batch', async () => {
    expect((await answered('{ a: list { read } b: list { read } }', { list: 2000, inner: 0 })).batches).toEqual([4000]);
  });

  test('items do not wait for those that wait for them', async () => {
    const { data } = await answered('{ list { inner { read inner { read } } } }', { list: 200, inner: 60 });
    expect(data.list).toHaveLength(200);
    expect(data.list[199].inner[59].inner[59]).toEqual({ read: 59 });
  });
});

describe('batches', () => {
  test('are read in several slices if they are many', async () => {
    let nowMs = 0;
    let turns = 0;
    const pieces = new Pieces({
      limits: { characters: Infinity, ms: Infinity },
      now: () => nowMs,
      turn: async () => void turns++,
    });
    const read: number[] = [];
    await pieces.run(() =>
      Promise.all(
        Array.from(
          { length: 100 },
          (_, i) =>
            new Promise<void>((resolve) => {
              pieces.batch(() => {
                nowMs += 0.25;
                read.push(i);
                resolve();
              });
            }),
        ),
      ),
    );
    expect(read.toSorted((a, b) => a - b)).toEqual(Array.from({ length: 100 }, (_, i) => i));
    expect(turns).toBeGreaterThan(20);
  });
});
