import { afterAll, beforeAll, expect, test } from 'vitest';
import { type TestApp, testApp, testSymbols } from '../support/app.ts';
import { CounterAnswers, countElsewhere } from '../support/counter-answers.ts';
import { counterNowMs, keepCounting, writeCounter } from '../support/counter-market.ts';

const priced = Array.from({ length: 23 }, (_, i) => `S${String.fromCharCode(65 + i)}`);
const counted = { whole: ['SPY', 'AAPL'], priced };
const entries = [...counted.whole, ...priced].map((symbol) => ({ ...testSymbols[0]!, symbol }));
let app: TestApp;
let session: string;

beforeAll(async () => {
  app = await testApp({ nowMs: counterNowMs, symbols: entries });
  await writeCounter(app.store, counted, 1);
  session = await app.session();
});
afterAll(() => app.close());

test.each([
  ['this process', () => keepCounting(app.store, counted)],
  ['another process', () => countElsewhere(app.store.databaseUrl, counted)],
])('an answer shows one counter of a symbol while %s writes it into all that is stored of it', async (_, count) => {
  const answers = new CounterAnswers(app, session, counted);
  const counting = count();
  await answers.atLeast(150);
  await counting.stop();
  expect(answers.mixed).toEqual([]);
});
