import fc from 'fast-check';
import {
  buildSchema,
  type ExecutionResult,
  type GraphQLScalarType,
  type GraphQLSchema,
  getOperationAST,
  parse,
} from 'graphql';
import { describe, expect, onTestFinished, test } from 'vitest';
import { compileOperation } from '../../../src/graphql/execution/compiled-operation.ts';
import { WrittenRows } from '../../../src/graphql/execution/row-writer.ts';
import { coerceVariables } from '../../../src/graphql/execution/variables.ts';
import { ColumnRows } from '../../../src/wire/column-rows.ts';
import { jsonBytes } from '../../../src/wire/json-bytes.ts';

interface Both {
  /** Completed value by value. */
  plain: ExecutionResult;
  written: ExecutionResult;
}

/** What an operation gives in both forms; null if it cannot be compiled. */
async function bothOf(
  schema: GraphQLSchema,
  source: string,
  { root, variables = {}, absent }: { root?: unknown; variables?: Record<string, unknown>; absent?: Set<string> } = {},
): Promise<Both | null> {
  const operation = compileOperation(schema, parse(source), undefined, absent);
  if (!operation) return null;
  return {
    plain: await operation.run(root, {}, variables),
    written: await operation.runWritten(root, {}, variables),
  };
}

const textOf = async ({ data }: ExecutionResult) => String(await jsonBytes(data ?? null));

const said = ({ errors = [] }: ExecutionResult) =>
  errors.map(({ message, path, locations }) => ({ message, path, locations }));

async function expectSame(both: Both): Promise<void> {
  expect(await textOf(both.written)).toBe(JSON.stringify(both.plain.data ?? null));
  expect(said(both.written)).toEqual(said(both.plain));
}

const schema = buildSchema(`
  type Query { rows: [Row!]! holey: [Row] none: [Row!] node: Node page: Page! }
  interface Node { id: ID! rows: [Row!]! }
  type Page implements Node { id: ID! rows: [Row!]! }
  type Row { id: Int! price: Float text: String flag: Boolean kind: Kind more: Row list: [Int!] }
  enum Kind { CALL PUT }
`);
const rows = [
  { id: 1, price: 1.25, text: 'one "é"', flag: true, kind: 'CALL', more: { id: 3 }, list: [1] },
  { id: 2, price: null, text: null, flag: false, kind: null, more: null, list: null },
];
const root = { rows, holey: [rows[0], null], none: null, page: { id: 'p', rows }, node: null };
const isWritten = (value: unknown) => value instanceof WrittenRows;

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

describe('a compiled operation whose rows are written', () => {
  test('gives what the ordinary compiled form gives, whatever the rows and what is asked of them', async () => {
    let [written, failed] = [0, 0];
    await fc.assert(
      fc.asyncProperty(fc.array(someRow, { maxLength: 6 }), selection, async (some, fields) => {
        const both = (await bothOf(schema, `{ rows { ${fields} } holey { ${fields} } }`, {
          root: { rows: some, holey: some },
        }))!;
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
  ])('%s are written', async (_, source) => {
    const both = (await bothOf(schema, source, { root }))!;
    await expectSame(both);
    const lists = Object.values(both.written.data!).filter((value) => value !== null);
    expect(lists.length).toBeGreaterThan(0);
    expect(lists.every(isWritten)).toBe(true);
  });

  test.each([
    ['objects below', '{ rows { id more { id } } }'],
    ['lists below', '{ rows { id list } }'],
    ['keys that objects understand otherwise', '{ rows { __proto__: id } }'],
    ['one key with and without objects', '{ rows { id } ...A } fragment A on Query { rows { more { id } } }'],
    [
      'many conditional fields',
      `query($b: Boolean!) { rows { ${[1, 2, 3, 4, 5].map((n) => `a${n}: id @skip(if: $b)`).join(' ')} id } }`,
    ],
    ['a conditional fragment', 'query($b: Boolean!) { rows { id ... @include(if: $b) { text } } }'],
    [
      'one key that is asked conditionally',
      'query($b: Boolean!) { rows { id } ... @include(if: $b) { rows { text } } }',
    ],
    ['fields of an interface', '{ page { ... on Node { rows { id } } } }'],
  ])('%s are completed as ever', async (_, source) => {
    for (const b of [true, false]) {
      const both = (await bothOf(schema, source, { root, variables: { b } }))!;
      await expectSame(both);
      expect(Object.values(both.written.data!).some(isWritten)).toBe(false);
    }
  });

  test('a field is included or not as the variables say', async () => {
    const source =
      'query($a: Boolean!, $b: Boolean!) { rows { id text @include(if: $a) price @skip(if: $b) id @skip(if: $a) } }';
    for (const a of [true, false]) {
      for (const b of [true, false]) {
        const both = (await bothOf(schema, source, { root, variables: { a, b } }))!;
        await expectSame(both);
        expect(isWritten(both.written.data!.rows)).toBe(true);
      }
    }
  });

  test('keys are omitted where they are null, if that is asked', async () => {
    const absent = new Set(['text', 'id']);
    const { written } = (await bothOf(schema, '{ rows { text price id } }', { root, absent }))!;
    expect(JSON.parse(await textOf(written))).toEqual({
      rows: [
        { text: 'one "é"', price: 1.25, id: 1 },
        { price: null, id: 2 },
      ],
    });
  });

  test('rows that are promises are waited for, in their order', async () => {
    const late = Array.from({ length: 2500 }, (_, id) => (id % 3 ? Promise.resolve({ id }) : { id }));
    const both = (await bothOf(schema, '{ rows { id } }', { root: { rows: Promise.resolve(late) } }))!;
    await expectSame(both);
  });

  test('rows that are waited for and all fail at once leave no rejection that nobody looks at', async () => {
    const unhandled: unknown[] = [];
    const listener = (reason: unknown) => unhandled.push(reason);
    process.on('unhandledRejection', listener);
    onTestFinished(() => void process.off('unhandledRejection', listener));
    const pause = Promise.withResolvers<void>();
    // Made anew each time it is asked for.
    const late = {
      get rows() {
        return Array.from({ length: 5000 }, (_, id) => pause.promise.then(() => ({ id })));
      },
    };
    const operation = compileOperation(schema, parse('{ rows { id } }'))!;
    const running = operation.runWritten(late, {}, {});
    await new Promise((resolve) => setImmediate(resolve));
    pause.reject(new Error('gone'));
    expect((await running).errors?.[0]?.message).toBe('gone');
    for (let i = 0; i < 4; i++) await new Promise((resolve) => setImmediate(resolve));
    expect(unhandled).toEqual([]);
  });

  test('rows that stand in columns are written from them', async () => {
    const columns = {
      id: Float64Array.of(7, 8),
      price: Float64Array.of(1.5, Number.NaN),
      text: (i: number) => `t${i}`,
    };
    const rowAt = (i: number) => ({ id: 7 + i, price: i === 0 ? 1.5 : null, text: `t${i}`, flag: true });
    const inColumns = new ColumnRows(2, rowAt, columns);
    for (const fields of ['id price text', 'text id', 'id flag', 'price __typename id'])
      await expectSame((await bothOf(schema, `{ rows { ${fields} } }`, { root: { rows: inColumns } }))!);
    const numbers = new ColumnRows(2, rowAt, { id: columns.id, price: columns.price, text: { all: 'é "t"' } });
    const same = new ColumnRows(2, (i) => ({ ...rowAt(i), text: 'é "t"' }), {});
    for (const fields of ['id', 'text price id', 'id __typename text', 'text']) {
      const [quick, slow] = await Promise.all(
        [numbers, same].map(
          async (list) => (await bothOf(schema, `{ rows { ${fields} } }`, { root: { rows: list } }))!,
        ),
      );
      expect(await textOf(quick!.written)).toBe(await textOf(slow!.plain));
      expect(slow!.written.data).toEqual(quick!.written.data);
    }
    // Rows are not asked for what the columns have.
    const never = new ColumnRows(2, () => expect.unreachable(), columns);
    const operation = compileOperation(schema, parse('{ rows { id price } }'))!;
    const { data } = await operation.runWritten({ rows: never }, {}, {});
    expect(String(await jsonBytes(data))).toBe('{"rows":[{"id":7,"price":1.5},{"id":8,"price":null}]}');
  });

  test.each([
    ['a null where none may be', [{ id: 1 }, { id: null }]],
    ['a row that is missing', [{ id: 1 }, null]],
    ['a value of another type', [{ id: 'one' }]],
    ['a number that is none', [{ id: 1, price: Number.NaN }]],
    ['an error as a value', [{ id: 1, price: new Error('no price') }]],
    ['an error as a row', [new Error('no row')]],
    ['a promise that fails', () => [{ id: 1 }, Promise.reject(new Error('late'))]],
    ['no list', 7],
    ['a column that lacks a number', new ColumnRows(1, () => ({ id: null }), { id: Float64Array.of(Number.NaN) })],
    ['a column of fractions', new ColumnRows(1, () => ({ id: 1.5 }), { id: Float64Array.of(1.5) })],
  ])('%s is told with its path, as ever', async (_, wrong) => {
    const both = (await bothOf(schema, '{ rows { id price } }', { root: { rows: wrong } }))!;
    expect(both.plain.errors).toHaveLength(1);
    await expectSame(both);
  });
});

test('a compiled operation takes variables as they were read', async () => {
  const asked = buildSchema('type Query { joined(of: [Code!]!, upTo: Int): String } scalar Code');
  const once: Partial<GraphQLScalarType> = {
    parseValue: (value) => {
      if (String(value).startsWith('read ')) throw new Error('was read before');
      return `read ${value}`;
    },
  };
  Object.assign(asked.getType('Code')!, once);
  const resolve = (_root: unknown, { of, upTo }: { of: string[]; upTo: number }) => of.slice(0, upTo).join();
  Object.assign(asked.getQueryType()!.getFields().joined!, { resolve });
  const document = parse('query($of: [Code!]!, $upTo: Int = 1) { joined(of: $of, upTo: $upTo) }');
  const { coerced } = await coerceVariables(asked, getOperationAST(document)!, { of: ['a', 'b', 'c'], upTo: 2 });
  const { run, runWritten } = compileOperation(asked, document)!;
  for (const form of [run, runWritten])
    expect(await form(undefined, {}, coerced)).toEqual({ data: { joined: 'read a,read b' } });
});
