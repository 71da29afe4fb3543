import { expect, test } from 'vitest';
import { samplePrices } from '../../../../src/intake/sample/market/prices.ts';
import { tapeEndMs } from '../../../../src/intake/sample/market/tape-shape.ts';
import { found, planted } from '../../../support/tapes/found-events.ts';
import { sampleTapes } from '../../../support/tapes/sample-tapes.ts';

test('a session of the sample market has some 310,000 prints, and the engine finds what is planted among them', {
  timeout: 180_000,
}, () => {
  const session = '2026-11-19';
  const tapes = sampleTapes(samplePrices(), session, tapeEndMs(session));
  const prints = tapes.ledger.options.prints + tapes.ledger.stocks.prints;
  expect(prints).toBeGreaterThan(280_000);
  expect(prints).toBeLessThan(340_000);
  expect(tapes.ledger.options.events.length).toBeGreaterThan(200);
  expect(found(tapes)).toEqual(planted(tapes));
});
