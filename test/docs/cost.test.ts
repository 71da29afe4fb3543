import { expect, it } from 'vitest';
import { documentLimits } from '../../src/graphql/limits/document-limits.ts';
import { weights } from '../../src/graphql/limits/weight.ts';
import { readConfig } from '../../src/platform/config/config.ts';
import { contractsOfExpiry, listSizes, writing } from '../../src/schema/cost.ts';
import { proseOf } from '../support/prose.ts';

const text = proseOf('docs/cost.md');
const inWords = (count: number) => count.toLocaleString('en-US');

it('docs/cost.md names every limit as it is', () => {
  const { bytes: _, ...others } = documentLimits;
  for (const [limit, most] of Object.entries(others)) expect(text).toContain(`| \`${limit}\` | ${inWords(most)} |`);
});

it('docs/cost.md names the points of what every answer is made of', () => {
  expect(text).toContain(`| a token of the document | ${weights.token} |`);
  expect(text).toContain(`an item of a list | ${weights.leaf} |`);
  expect(text).toContain('| a byte of the answer | 0.000024 |');
  expect(weights.byte).toBe(0.000024);
  expect(text).toContain(`| a mutation | ${writing.once} |`);
});

it('docs/cost.md names how long lists may be', () => {
  const { contracts, strikes, strikesByExpiry, expiries, captures, symbols } = listSizes;
  const rows = [
    `contracts of a chain | ${inWords(contracts)}; ${inWords(contractsOfExpiry)} of one expiry`,
    `strikes of a capture | ${inWords(strikes)}; ${inWords(strikesByExpiry)} by expiry`,
    `expiries | ${expiries}`,
    `captures of a session | ${captures}`,
    `symbols of the registry | ${symbols}`,
  ];
  for (const row of rows) expect(text).toContain(`| ${row} |`);
});

it('docs/cost.md names the requests a minute', () => {
  const { rates } = readConfig({}, {});
  const prose = text.replaceAll('\n', ' ');
  expect(prose).toContain(
    `${rates.free} requests per minute on the free tier, ${rates.basic} on basic and ${rates.pro} on pro; clients without a credential have ${rates.anonymous} per address`,
  );
});
