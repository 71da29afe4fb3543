// Statements do not grow with the parents of a field: of every field of the graph, found from the schema.

import { getNamedType, isObjectType } from 'graphql';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { documentLimits } from '../../src/graphql/limits/document-limits.ts';
import { inTransaction } from '../../src/store/rows/transaction.ts';
import { type TestApp, testApp, testSymbols } from '../support/app.ts';
import { filledArguments } from '../support/filled-arguments.ts';
import { filledNowMs, fillMarket } from '../support/filled-market.ts';
import { GraphWalk, objectType } from '../support/graph-walk.ts';
import { newYork } from '../support/option-market.ts';
import { statementsOf, withoutCommits } from '../support/statements.ts';
import { type TestStore, testStore } from '../support/store.ts';

const registered = testSymbols.filter((each) => each.registered);

/**
 * Stores all that is stored of each registered symbol for another, whose name sorts after all: a page of all has twice
 * as many of the same kinds.
 */
async function addTwins(store: TestStore): Promise<void> {
  await inTransaction(store, async (tx) => {
    const { rows } = await tx.query<{ table: string; columns: string[] }>(
      `SELECT table_name AS table, array_agg(column_name::text) AS columns FROM information_schema.columns
       WHERE table_schema = 'public' AND column_name IN ('symbol', 'underlying', 'scope')
         AND table_name !~ '^superseded|symbols|journal_trades' GROUP BY 1`,
    );
    for (const { table, columns } of rows) {
      const names = columns.map((column) => `'${column}', 'Z' || ${column}`).join();
      await tx.query(
        `INSERT INTO ${table} SELECT (jsonb_populate_record(t, jsonb_build_object(${names}))).* FROM ${table} t
         WHERE ${columns[0]} = ANY ($1)`,
        [registered.map(({ symbol }) => symbol)],
      );
    }
  });
}

let app: TestApp;
let session: string;
const usualLimits = { ...documentLimits };
beforeAll(async () => {
  // Without a cache every statement for a parent is sent.
  const blocks = { get: () => undefined, set() {}, stats: () => ({ hits: 0, misses: 0, bytes: 0, maxBytes: 0 }) };
  const store = { ...(await testStore()), blocks };
  const twins = [...registered, ...registered.map((of) => ({ ...of, symbol: `Z${of.symbol}` }))];
  // Many symbols with all that is below a field are more than is answered.
  Object.assign(documentLimits, { leaves: Infinity, answerBytes: Infinity });
  app = await testApp({ nowMs: filledNowMs, store, symbols: twins });
  await fillMarket(store);
  await addTwins(store);
  session = await app.session();
  await ask('{ symbol(symbol: "SPY") { name } }');
}, 120_000);
afterAll(() => {
  // The next suite of this process has them.
  Object.assign(documentLimits, usualLimits);
  return app.close();
});

const walk = new GraphWalk(
  filledArguments,
  new Set(['id', 'nodeId', 'FlowEvent.context', 'RankedPrint.context', 'FlowLeg.contract']),
);

/** Every field of a type, those of its parts one by one, as selections by name. */
function fieldsOf(type: string): (readonly [string, string])[] {
  return Object.values(objectType(type).getFields()).flatMap((field) => {
    const of = getNamedType(field.type);
    const parts = isObjectType(of) && /^Symbol(Gex|Flow|OffExchange|Volatility)$/.test(of.name) ? of : null;
    if (!parts) {
      const text = walk.selection(objectType(type), field, [type, 'Symbol', 'OptionContract']);
      return text === null ? [] : [[field.name, text] as const];
    }
    return Object.values(parts.getFields()).flatMap((part) => {
      const text = walk.selection(parts, part, [type, parts.name]);
      return text === null ? [] : [[`${field.name}.${part.name}`, `${field.name} { ${text} }`] as const];
    });
  });
}

const ask = (query: string) => app.graphql(query, {}, { credential: session });

/** The statements that are sent for a document, whatever the number of their values, and its cost in points. */
async function asked(query: string): Promise<{ counts: Map<string, number>; points: number }> {
  let answer!: Awaited<ReturnType<typeof ask>>;
  const sent = await statementsOf(async () => {
    answer = await ask(query);
  });
  expect(answer.data, JSON.stringify(answer.errors)).not.toBeNull();
  const texts = withoutCommits(sent).map((text) => text.replaceAll(/\$\d+(, ?\$\d+)*/g, '$'));
  const counts = new Map([...Map.groupBy(texts, (text) => text)].map(([text, all]) => [text, all.length]));
  return { counts, points: answer.extensions!.cost.actual };
}

let seconds = 0;
/** An instant of which there is no cached answer. */
const unread = () => newYork('2026-11-30', '10:00') + ++seconds * 1000;

/** A field below nothing, and as of an instant that is new. */
const ways = [(field: string) => `{ ${field} }`, (field: string) => `{ asOf(at: "${unread()}") { ${field} } }`];

/**
 * Times that a document is asked until its statements are as few: a batch is read in two if what its parents wait for
 * comes at different times, on a busy machine several times in a row. What grows with N grows each time.
 */
const tries = 8;

/** The statements that are sent more often for one field than for another, each time that both are asked. */
async function grown(ofFew: string, ofMany: string, way: (field: string) => string): Promise<string[]> {
  let found: string[] = [];
  for (let i = 0; i === 0 || (i < tries && found.length > 0); i++) {
    const [few, many] = [await asked(way(ofFew)), await asked(way(ofMany))];
    found = [...many.counts]
      .filter(([text, count]) => count > (few.counts.get(text) ?? 0))
      .map(([text, count]) => `${few.counts.get(text) ?? 0} → ${count}: ${text}`);
  }
  return found;
}

const symbols = (first: number, field: string) => `symbols(first: ${first}) { nodes { ${field} } }`;
const contracts = (first: number, field: string) =>
  `symbol(symbol: "SPY") { contracts(first: ${first}) { nodes { ${field} } } }`;

describe('symbols(first: N)', () => {
  test.each(fieldsOf('Symbol'))('%s', async (_name, field) => {
    const [few, many] = [symbols(registered.length, field), symbols(2 * registered.length, field)];
    for (const way of ways) expect(await grown(few, many, way)).toEqual([]);
  });
});

describe('contracts(first: N)', () => {
  // Eight have all that a contract may have.
  test.each(fieldsOf('OptionContract'))('%s', async (_name, field) => {
    for (const way of ways) expect(await grown(contracts(8, field), contracts(20, field), way)).toEqual([]);
  });
});

/** Statements that a point pays: ten are the CPU of a page of bars, of which a statement takes less than a tenth. */
const statementsAPoint = 2;

describe('N × asOf', () => {
  const blocks = (count: number, argument: 'at' | 'known', field: string) => {
    const instants = Array.from({ length: count }, () => (argument === 'at' ? unread() : filledNowMs - ++seconds));
    return `{ ${instants.map((ms, i) => `a${i}: asOf(${argument}: "${ms}") { ${field} }`).join(' ')} }`;
  };
  const total = ({ counts }: Awaited<ReturnType<typeof asked>>) => [...counts.values()].reduce((sum, n) => sum + n, 0);
  const fields = [
    ...fieldsOf('Symbol').map(([name, field]) => [`Symbol.${name}`, `symbol(symbol: "SPY") { ${field} }`] as const),
    ...fieldsOf('OptionContract').map(([name, field]) => [`OptionContract.${name}`, contracts(8, field)] as const),
  ];

  test.each(fields)('%s: each block pays for its statements', async (_name, field) => {
    for (const argument of ['at', 'known'] as const) {
      const [one, six] = [await asked(blocks(1, argument, field)), await asked(blocks(6, argument, field))];
      // Costs are rounded up to points.
      expect(total(six) - total(one)).toBeLessThanOrEqual(statementsAPoint * (six.points - one.points + 1));
    }
  });
});
