import { describe, expect, onTestFinished, test } from 'vitest';
import { saveSymbols } from '../../src/store/market/symbols.ts';
import { openStore } from '../../src/store/rows/connection.ts';
import { inTransaction } from '../../src/store/rows/transaction.ts';
import { tapegraph } from '../cli/command-line.ts';
import { served } from '../cli/served.ts';
import { testApp, testSymbols } from '../support/app.ts';
import { CounterAnswers, countElsewhere } from '../support/counter-answers.ts';
import { counterNowMs, writeCounter } from '../support/counter-market.ts';
import { ownPostgres } from '../support/servers/own-postgres.ts';
import { storeForThisTest } from '../support/store.ts';

/** Answers that each of the tests compares; to look further: ONE_COMMIT_ANSWERS=25000. */
const answersEach = Number(process.env.ONE_COMMIT_ANSWERS ?? 90);

const priced = Array.from({ length: 22 }, (_, i) => `S${String.fromCharCode(65 + i)}`);
const counted = { whole: ['SPY', 'AAPL', 'MSFT'], priced };
const symbols = [...counted.whole, ...priced].map((symbol) => ({ ...testSymbols[0]!, symbol }));

/** Compares answers while a thread counts in the database. */
async function compare(asked: ConstructorParameters<typeof CounterAnswers>[0], session: string, databaseUrl: string) {
  const answers = new CounterAnswers(asked, session, counted);
  const counting = countElsewhere(databaseUrl, counted);
  await answers.atLeast(answersEach);
  const written = await counting.stop();
  console.log(`${answers.compared} answers compared over ${written} commits`);
  expect(answers.mixed).toEqual([]);
}

describe('an answer shows one counter of a symbol while it is written', { timeout: 1_200_000 }, () => {
  test('by another process', async () => {
    const app = await testApp({ nowMs: counterNowMs, symbols });
    onTestFinished(() => app.close());
    await writeCounter(app.store, counted, 1);
    await compare(app, await app.session(), app.store.databaseUrl);
  });

  test('and read from a standby that lags', async () => {
    const primary = await ownPostgres();
    const standby = await primary.standby();
    const databaseUrl = primary.url();
    const store = await openStore({ databaseUrl, dataDir: '', readUrls: [standby.url()] });
    const app = await testApp({ nowMs: counterNowMs, symbols, store: { ...store, databaseUrl } });
    onTestFinished(() => app.close());
    await writeCounter(app.store, counted, 1);
    await compare(app, await app.session(), databaseUrl);
  });

  test.each(['1', '2'])('and read by %s worker processes', async (workers) => {
    const store = await storeForThisTest();
    await inTransaction(store, (tx) => saveSymbols(tx, symbols));
    await writeCounter(store, counted, 1);
    const env = { DATABASE_URL: store.databaseUrl, LOG_LEVEL: 'warn', RATE_PRO: '1000000' };
    const clock = new Date(counterNowMs).toISOString();
    const { ready } = await served(['--workers', workers, '--clock', clock], env);
    await tapegraph(
      ['account', 'set', 'acme', '--api-tier', 'pro', '--site-tier', 'pro', '--classification', 'non_professional'],
      env,
    );
    const { token } = JSON.parse((await tapegraph(['session', 'create', '--account', 'acme', '--json'], env)).stdout);
    await compare(asking(ready.url), token, store.databaseUrl);
  });
});

/** Requests to a server in a process of its own. */
function asking(url: string): ConstructorParameters<typeof CounterAnswers>[0] {
  const send = async (method: string, path: string, { credential, headers = {}, body }: Sent = {}) => {
    const response = await fetch(url + path, {
      method,
      headers: { authorization: `Bearer ${credential}`, 'content-type': 'application/json', ...headers },
      ...(body === undefined ? {} : { body }),
    });
    return { status: response.status, body: await response.json() } as never;
  };
  return {
    send,
    get: (path, sending) => send('GET', path, sending as Sent),
    graphql: async (query, variables, sending) => {
      const body = JSON.stringify({ query, variables });
      const answer = await send('POST', '/graphql', { ...(sending as Sent), body });
      return (answer as { body: never }).body;
    },
  } as ConstructorParameters<typeof CounterAnswers>[0];
}

interface Sent {
  credential?: string;
  headers?: Record<string, string>;
  body?: string;
}
