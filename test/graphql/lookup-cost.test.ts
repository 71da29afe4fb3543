import { afterAll, beforeAll, expect, test } from 'vitest';
import { type TestApp, testApp, testSymbols } from '../support/app.ts';
import { times } from './attack-documents.ts';

// 150 symbols, as the sample market has.
const symbols = Array.from({ length: 150 }, (_, i) => ({ ...testSymbols[0]!, symbol: `W${i}` }));

let app: TestApp;
let credential: string;
beforeAll(async () => {
  app = await testApp({ symbols });
  credential = await app.session();
});
afterAll(() => app.close());

/** Points of an answer. */
async function points(query: string): Promise<number> {
  const { errors, extensions } = await app.graphql(query, {}, { credential });
  expect(errors).toBeUndefined();
  return extensions.cost.actual;
}

const nodes = (fields: string, count = 20) =>
  `{ symbols(first: 150) { nodes { ${times(count, (i) => fields.replace('x', `a${i}`))} } } }`;

test('a value that the request looks up costs more than one that its row has', async () => {
  // 3,000 values each, of which the bytes are as many.
  expect(await points(nodes('x: registered'))).toBeGreaterThanOrEqual((await points(nodes('x: symbol'))) + 2);
});

test('pages of symbols with what the registry says of each cost as many requests as they take', async () => {
  const page = 'symbols(first: 1000000) { edges { node { chainPolicy { id } } } }';
  const [one, many] = [await points(`{ ${page} }`), await points(`{ ${times(10, (i) => `a${i}: ${page}`)} }`)];
  expect(many).toBeGreaterThan(10);
  expect(many).toBeGreaterThan(8 * (one - 1));
});

test('a page costs its list again under each name, and a cursor its checksum', async () => {
  const pages = (fields: string) => `{ ${times(60, (i) => `a${i}: symbols(first: 150) { ${fields} }`)} }`;
  expect(await points(pages('totalCount'))).toBeGreaterThan(6);
  const cursors = (await points(pages('edges { cursor }'))) - (await points(pages('edges { __typename }')));
  expect(cursors).toBeGreaterThan(25);
});
