import fc from 'fast-check';
import {
  buildSchema,
  type ExecutionResult,
  execute as executeTheirs,
  type GraphQLObjectType,
  type GraphQLSchema,
  parse,
} from 'graphql';
import { describe, expect, onTestFinished, test } from 'vitest';
import { type Executed, execute } from '../../../src/graphql/execution/execute.ts';
import { PreparedOperation } from '../../../src/graphql/execution/prepared-operation.ts';
import { Pieces } from '../../../src/graphql/execution/sliced-work.ts';
import { ColumnRows } from '../../../src/platform/wire/column-rows.ts';
import { jsonBytes, WrittenJson } from '../../../src/platform/wire/json-chunks.ts';

interface Both {
  /** By graphql-js. */
  plain: ExecutionResult;
  written: Executed;
}

interface Asked {
  root?: unknown;
  variables?: Record<string, unknown>;
  absent?: Set<string>;
  /** Looks at the clock in a piece. */
  looks?: number;
}

/** Runs an operation whose rows are written. */
function writtenOf(schema: GraphQLSchema, source: string, asked: Asked = {}): Promise<Executed> {
  const { root, variables = {}, absent = new Set(), looks = 1e9 } = asked;
  const operation = new PreparedOperation(schema, parse(source), null, { isWritten: true, absent });
  let nowMs = 0;
  const pieces = new Pieces({
    turn: () => new Promise((resolve) => setImmediate(resolve)),
    limits: { characters: Infinity, ms: Infinity },
    now: () => (nowMs += 1 / looks),
  });
  const values = { rootValue: root, contextValue: {}, variableValues: variables };
  return pieces.run(() => execute(operation, values, pieces));
}

async function bothOf(schema: GraphQLSchema, source: string, asked: Asked = {}): Promise<Both> {
  const { root, variables = {} } = asked;
  const document = parse(source);
  return {
    plain: await executeTheirs({ schema, document, rootValue: root, variableValues: variables }),
    written: await writtenOf(schema, source, asked),
  };
}

const textOf = async ({ data }: Executed) => String(await jsonBytes(data));

const said = ({ errors = [] }: Pick<ExecutionResult, 'errors'>) =>
  errors.map(({ message, path, locations }) => ({ message, path, locations }));

async function expectSame({ plain, written }: Both): Promise<void> {
  expect(await textOf(written)).toBe(JSON.stringify(plain.data ?? null));
  expect(said(written)).toEqual(said(plain));
}

const schema = buildSchema(`
  type Query { rows: [Row!]! holey: [Row] none: [Row!] node: Node page: Page! }
  interface Node { id: ID! rows: [Row!]! }
  type Page implements Node { id: ID! rows: [Row!]! }
  type Row { id: Int! price: Float text: String flag: Boolean kind: Kind more: Row list: [Int!] }
  enum Kind { CALL PUT }
`);
/** As many rows as are written at once, and more. */
const rows = Array.from({ length: 6 }, (_, i) => ({
  id: i,
  price: i % 2 ? null : 1.25 + i,
  text: i % 3 ? null : 'one "é"',
  flag: i % 2 === 0,
  kind: i % 2 ? null : 'CALL',
  more: i % 2 ? null : { id: 3 },
  list: i % 2 ? null : [1],
}));
const root = { rows, holey: [...rows, null], none: null, page: { id: 'p', rows }, node: null };
const isWritten = (value: unknown) => value instanceof WrittenJson;

const mostly = <T>(fitting: fc.Arbitrary<T>) =>
  fc.oneof({ weight: 30, arbitrary: fitting as fc.Arbitrary<unknown> }, fc.constantFrom(undefined, 'x', 2.5, true, {}));
const orNull = <T>(fitting: fc.Arbitrary<T>) => mostly(fc.option(fitting));
const someRow = mostly(
  fc.record({
    id: mostly(fc.integer()),
    price: orNull(fc.oneof(fc.double(), fc.integer())),
    text: orNull(fc.string({ unit: 'binary' })),
    flag: orNull(fc.boolean()),
    kind: orNull(fc.constantFrom('CALL', 'PUT')),
    more: fc.constant(null),
    list: fc.constant(null),
  }),
);
const someField = fc
  .tuple(fc.constantFrom('', 'a: ', 'b: '), fc.constantFrom('id', 'price', 'text', 'flag', 'kind', '__typename'))
  .map((parts) => parts.join(''));
/** Fields of which no two of one key differ. */
const selection = fc
  .uniqueArray(someField, { minLength: 1, maxLength: 6, selector: (field) => field.split(':')[0] })
  .map((fields) => fields.join(' '));

describe('an operation whose rows are written', () => {
  test('leaves no rejection that nobody handles when a value is a promise that fails', async () => {
    const unhandled: unknown[] = [];
    const note = (error: unknown) => unhandled.push(error);
    process.on('unhandledRejection', note);
    onTestFinished(() => void process.off('unhandledRejection', note));
    const failing = rows.map((row) => ({ ...row, price: () => Promise.reject(new Error('no price')) }));
    const schemaOfPromises = buildSchema('type Query { rows: [Row!]! } type Row { id: Int! price: Float }');
    const fields = (schemaOfPromises.getType('Row') as GraphQLObjectType).getFields();
    fields.price!.resolve = ({ price }: (typeof failing)[number]) => price();
    const both = await bothOf(schemaOfPromises, '{ rows { id price } }', { root: { rows: failing } });
    await new Promise((resolve) => setImmediate(resolve));
    expect(both.written.errors).toHaveLength(rows.length);
    await expectSame(both);
    expect(unhandled).toEqual([]);
  });

  test('gives what graphql-js gives, whatever the rows and what is asked of them', async () => {
    let [written, failed] = [0, 0];
    await fc.assert(
      fc.asyncProperty(fc.array(someRow, { minLength: 4, maxLength: 8 }), selection, async (some, fields) => {
        const both = await bothOf(schema, `{ rows { ${fields} } holey { ${fields} } }`, {
          root: { rows: some, holey: some },
        });
        await expectSame(both);
        if (both.plain.errors) failed++;
        else written += Object.values(both.written.data!).filter(isWritten).length;
      }),
      { numRuns: 1000 },
    );
    expect(written).toBeGreaterThan(100);
    expect(failed).toBeGreaterThan(100);
  });

  test.each([
    ['plain values', '{ rows { id price text flag kind } }'],
    ['aliases, the same field twice and the type', '{ all: rows { x: id __typename y: id x: id constructor: text } }'],
    ['fragments', '{ rows { ...A ... on Row { text } } } fragment A on Row { price id }'],
    ['rows asked in two places', '{ rows { id } rows { text id } }'],
    ['lists with holes, and none', '{ holey { id text } none { id } }'],
    ['keys that objects understand otherwise', '{ rows { __proto__: id } }'],
    [
      'conditional fields',
      `query($b: Boolean!) { rows { ${[1, 2, 3, 4, 5].map((n) => `a${n}: id @skip(if: $b)`).join(' ')} id } }`,
    ],
    ['a conditional fragment', 'query($b: Boolean!) { rows { id ... @include(if: $b) { text } } }'],
    [
      'one key that is asked conditionally',
      'query($b: Boolean!) { rows { id } ... @include(if: $b) { rows { text } } }',
    ],
    [
      'rows of a key that is asked conditionally with objects',
      'query($c: Boolean! = false) { rows { id more @include(if: $c) { id } } }',
    ],
    ['fields of an interface', '{ page { ... on Node { rows { id } } } }'],
  ])('%s are written', async (_, source) => {
    for (const b of [true, false]) {
      const both = await bothOf(schema, source, { root, variables: { b, c: false } });
      await expectSame(both);
      const { page, ...data } = both.written.data!;
      const lists = Object.values({ ...data, ...(page as object) }).filter((value) => value !== null);
      expect(lists.length).toBeGreaterThan(0);
      expect(lists.every(isWritten)).toBe(true);
    }
  });

  test('as long as their pieces last, and the rest in later ones', async () => {
    const many = Array.from({ length: 5000 }, (_, id) => ({ ...rows[id % 6]!, id }));
    for (const list of [many, new ColumnRows(5000, (i) => many[i]!, { id: Float64Array.from(many, ({ id }) => id) })])
      for (const fields of ['id', 'id text price'])
        await expectSame(await bothOf(schema, `{ rows { ${fields} } }`, { root: { rows: list }, looks: 1.5 }));
  });

  test.each([
    ['objects below', '{ rows { id more { id } } }'],
    ['lists below', '{ rows { id list } }'],
    ['one key with and without objects', '{ rows { id } ...A } fragment A on Query { rows { more { id } } }'],
  ])('%s are completed by value', async (_, source) => {
    const both = await bothOf(schema, source, { root });
    await expectSame(both);
    expect(Object.values(both.written.data!).some(isWritten)).toBe(false);
  });

  test('a field is included or not as the variables say', async () => {
    const source =
      'query($a: Boolean!, $b: Boolean!) { rows { id text @include(if: $a) price @skip(if: $b) id @skip(if: $a) } }';
    for (const a of [true, false]) {
      for (const b of [true, false]) {
        const both = await bothOf(schema, source, { root, variables: { a, b } });
        await expectSame(both);
        expect(isWritten(both.written.data!.rows)).toBe(true);
      }
    }
  });

  test('keys are omitted where they are null, if that is asked', async () => {
    const absent = new Set(['text', 'id']);
    const { written } = await bothOf(schema, '{ rows { text price id } }', { root, absent });
    expect(isWritten(written.data!.rows)).toBe(true);
    const expected = rows.map(({ text, price, id }) => ({ ...(text !== null && { text }), price, id }));
    expect(JSON.parse(await textOf(written))).toEqual({ rows: expected });
    // Also where they are completed by value, and come later.
    const late = { rows: rows.map((row) => ({ ...row, text: async () => row.text })) };
    expect(
      JSON.parse(await textOf(await writtenOf(schema, '{ rows { text price id } }', { root: late, absent }))),
    ).toEqual({
      rows: expected,
    });
  });

  test('rows that are promises are waited for, in their order', async () => {
    const late = Array.from({ length: 2500 }, (_, id) => (id % 3 ? Promise.resolve({ id }) : { id }));
    const both = await bothOf(schema, '{ rows { id } }', { root: { rows: Promise.resolve(late) } });
    await expectSame(both);
  });

  test('rows that are waited for and all fail at once leave no rejection that nobody looks at', async () => {
    const unhandled: unknown[] = [];
    const listener = (reason: unknown) => unhandled.push(reason);
    process.on('unhandledRejection', listener);
    onTestFinished(() => void process.off('unhandledRejection', listener));
    const pause = Promise.withResolvers<void>();
    // Made again each time it is requested.
    const late = {
      get rows() {
        return Array.from({ length: 5000 }, (_, id) => pause.promise.then(() => ({ id })));
      },
    };
    const running = writtenOf(schema, '{ rows { id } }', { root: late, looks: 3 });
    await new Promise((resolve) => setImmediate(resolve));
    pause.reject(new Error('gone'));
    expect((await running).errors?.[0]?.message).toBe('gone');
    for (let i = 0; i < 4; i++) await new Promise((resolve) => setImmediate(resolve));
    expect(unhandled).toEqual([]);
  });

  test('rows that stand in columns are written from them', async () => {
    const columns = {
      id: Float64Array.of(7, 8, 9, -10),
      price: Float64Array.of(1.5, Number.NaN, 0.1234, 1e21),
      text: (i: number) => `t${i}`,
    };
    const rowAt = (i: number) => {
      const price = columns.price[i]!;
      return { id: columns.id[i]!, price: Number.isNaN(price) ? null : price, text: `t${i}`, flag: true };
    };
    const inColumns = new ColumnRows(4, rowAt, columns);
    for (const fields of ['id price text', 'text id', 'id flag', 'price __typename id'])
      await expectSame(await bothOf(schema, `{ rows { ${fields} } }`, { root: { rows: inColumns } }));
    const numbers = { id: columns.id, price: columns.price, text: { all: 'é "t"' } };
    const same = new ColumnRows(4, (i) => ({ ...rowAt(i), text: 'é "t"' }), numbers);
    for (const fields of ['id', 'text price id', 'id __typename text', 'text', '__typename'])
      await expectSame(await bothOf(schema, `{ rows { ${fields} } }`, { root: { rows: same } }));
    // Rows are not asked for what the columns have.
    const never = new ColumnRows(4, () => expect.unreachable(), columns);
    const { data } = await writtenOf(schema, '{ rows { id price } }', { root: { rows: never } });
    expect(String(await jsonBytes(data))).toBe(
      '{"rows":[{"id":7,"price":1.5},{"id":8,"price":null},{"id":9,"price":0.1234},{"id":-10,"price":1e+21}]}',
    );
  });

  const fitting = [{ id: 1 }, { id: 2 }, { id: 3 }];
  const inColumn = (id: number | null, column: number) =>
    new ColumnRows(4, (i) => fitting[i] ?? { id }, { id: Float64Array.of(1, 2, 3, column) });
  test.each([
    ['a null where none may be', [...fitting, { id: null }]],
    ['a row that is missing', [...fitting, null]],
    ['a value of another type', [...fitting, { id: 'one' }]],
    ['a number that is none', [...fitting, { id: 1, price: Number.NaN }]],
    ['an error as a value', [...fitting, { id: 1, price: new Error('no price') }]],
    ['an error as a row', [...fitting, new Error('no row')]],
    ['a promise that fails', () => [...fitting, Promise.reject(new Error('late'))]],
    ['no list', 7],
    ['a column that lacks a number', inColumn(null, Number.NaN)],
    ['a column of fractions', inColumn(1.5, 1.5)],
  ])('%s is told with its path, as ever', async (_, wrong) => {
    const both = await bothOf(schema, '{ rows { id price } }', { root: { rows: wrong } });
    expect(both.plain.errors).toHaveLength(1);
    await expectSame(both);
  });
});
