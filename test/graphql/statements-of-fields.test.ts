// Statements do not grow with the parents of a field: of every field of the graph, found from the schema.

import { getNamedType, isObjectType } from 'graphql';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { TestApp } from '../support/app.ts';
import { filledArguments } from '../support/filled-arguments.ts';
import { filledApp } from '../support/filled-market.ts';
import { GraphWalk, objectType } from '../support/graph-walk.ts';
import { newYork } from '../support/option-market.ts';
import { statementsOf, withoutCommits } from '../support/statements.ts';

let app: TestApp;
let session: string;
beforeAll(async () => {
  app = await filledApp();
  session = await app.session();
  await app.graphql('{ symbol(symbol: "SPY") { name } }', {}, { credential: session });
}, 120_000);
afterAll(() => app.close());

const walk = new GraphWalk(filledArguments, new Set(['id', 'nodeId', 'FlowEvent.context', 'RankedPrint.context']));

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

/** The count of each statement that is sent for a document, whatever the number of its values. */
async function statements(query: string): Promise<Map<string, number>> {
  const sent = await statementsOf(async () => void (await app.graphql(query, {}, { credential: session })));
  const texts = withoutCommits(sent).map((text) => text.replaceAll(/\$\d+(, ?\$\d+)*/g, '$'));
  return new Map([...Map.groupBy(texts, (text) => text)].map(([text, all]) => [text, all.length]));
}

let seconds = 0;
/** An instant that nothing was read of before, so that caches do not hide a statement for each parent. */
const unread = () => newYork('2026-11-30', '10:00') + ++seconds * 1000;

/**
 * Most times that a statement is sent more often for five more parents: parents with data of more kinds reach it later
 * than others. One for each parent would be five, or three of those with option chains.
 */
const mostMore = 2;

/** Fields below which a statement is sent for each parent with a chain: their days and captures differ by symbol. */
const apart = new Set(['gex.exposures', 'gex.figures', 'volatility.figures']);

/** The most that the count of a statement grows with five more parents, as of now and at an instant that is new. */
async function growth(ofFew: string, ofMany: string): Promise<number> {
  const grown: number[] = [];
  for (const asked of [
    (field: string) => `{ ${field} }`,
    (field: string) => `{ asOf(at: "${unread()}") { ${field} } }`,
  ]) {
    const few = await statements(asked(ofFew));
    for (const [text, count] of await statements(asked(ofMany))) grown.push(count - (few.get(text) ?? 0));
  }
  return Math.max(0, ...grown);
}

const symbols = (first: number, field: string) => `symbols(first: ${first}) { nodes { ${field} } }`;
const contracts = (first: number, field: string) =>
  `symbol(symbol: "SPY") { contracts(first: ${first}) { nodes { ${field} } } }`;

describe('symbols(first: N)', () => {
  test.each(fieldsOf('Symbol'))('%s', async (name, field) => {
    const grown = await growth(symbols(3, field), symbols(8, field));
    if (apart.has(name)) expect(grown).toBeLessThanOrEqual(5);
    else expect(grown).toBeLessThanOrEqual(mostMore);
  });
});

describe('contracts(first: N)', () => {
  test.each(fieldsOf('OptionContract'))('%s', async (_name, field) => {
    expect(await growth(contracts(1, field), contracts(6, field))).toBeLessThanOrEqual(mostMore);
  });
});
