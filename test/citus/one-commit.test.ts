import { afterAll, beforeAll, expect, test } from 'vitest';
import { readLiveQuotes } from '../../src/store/market/live-quotes.ts';
import { readsOf } from '../../src/store/versions/reads.ts';
import { type TestApp, testApp, testSymbols } from '../support/app.ts';
import { CounterAnswers, countElsewhere } from '../support/counter-answers.ts';
import { counterNowMs, writeCounter } from '../support/counter-market.ts';
import { trade } from '../support/live.ts';

const priced = Array.from({ length: 23 }, (_, i) => `S${String.fromCharCode(65 + i)}`);
const counted = { whole: ['SPY', 'AAPL'], priced };
const entries = [...counted.whole, ...priced].map((symbol) => ({ ...testSymbols[0]!, symbol }));
/** Answers that are compared; to look further: ONE_COMMIT_ANSWERS=25000. */
const answerCount = Number(process.env.ONE_COMMIT_ANSWERS ?? 100);
let app: TestApp;
let session: string;

beforeAll(async () => {
  app = await testApp({ nowMs: counterNowMs, symbols: entries });
  await writeCounter(app.store, counted, 1);
  session = await app.session();
});
afterAll(() => app.close());

test(
  'an answer shows one counter of a symbol while another process writes it over several nodes',
  async () => {
    const answers = new CounterAnswers(app, session, counted);
    const counting = countElsewhere(app.store.databaseUrl, counted);
    await answers.atLeast(answerCount);
    await counting.stop();
    expect(answers.mixed).toEqual([]);
  },
  60_000 + answerCount * 1000,
);

test('a snapshot has one state of the rows of a symbol, on whichever node they are', async () => {
  for (const symbol of ['SPY', 'AAPL', 'SA', 'SB']) {
    const { store, ofOneCommit } = readsOf(app.store);
    const price = async () => (await readLiveQuotes(store, [symbol])).get(symbol)!.spot;
    const prices = await ofOneCommit(async () => {
      const before = await price();
      await trade(app.store, { [symbol]: 5000 }, counterNowMs - 60_000);
      return [before, await price()];
    }, false);
    expect(prices[1], symbol).toBe(prices[0]);
  }
});
