// A server fed all of a tape, asked as of an instant, and one fed the corrected tape up to that instant whose clock
// stands there, are the same.
import { afterAll, describe, expect, test } from 'vitest';
import { exchangeInstant } from '../../src/core/domain/market-time.ts';
import { follow } from '../../src/intake/ingest/tail/follow.ts';
import { saveSplits } from '../../src/store/market/splits.ts';
import { saveSymbols } from '../../src/store/market/symbols.ts';
import { inTransaction } from '../../src/store/rows/transaction.ts';
import { options } from '../intake/ingest/tail/followed-tape.ts';
import { type Json, type TestApp, testApp, testSymbols } from '../support/app.ts';
import { asOfFields, notSelected } from '../support/as-of-fields.ts';
import { GraphWalk } from '../support/graph-walk.ts';
import { randomOf } from '../support/random.ts';
import { filledStores } from '../support/store.ts';
import { correctableTape, type TapeLine, timeLine } from '../support/tapes/correctable-tape.ts';
import { saveScreen } from './known-routes.ts';

const seeds = Number(process.env.AS_OF_TAPES ?? 1);
const firstSeed = Number(process.env.AS_OF_SEED ?? 20261127);
const instantsOfTape = 3;
const call = 'O:SPY261218C00600000';
const after = exchangeInstant('2026-12-01', 720);

const registered = filledStores(async (store) => {
  await inTransaction(store, async (tx) => {
    await saveSymbols(tx, testSymbols);
    await saveSplits(tx, [{ symbol: 'AAPL', exDate: '2026-11-30', ratio: 2, declared: null }]);
  });
});

/** A server over what a follower stored of a tape; its clock is at `nowMs`. */
async function serverOf(lines: readonly TapeLine[], throughMs: number, nowMs: number): Promise<TestApp> {
  const store = await registered();
  const texts: string[] = [];
  let time = 0;
  for (const { ms, text } of lines) {
    // One time line a second, as a tape should send.
    if (ms - 5000 >= time + 1000) {
      time = ms - 5000;
      texts.push(timeLine(time));
    }
    texts.push(text);
  }
  async function* pieces() {
    yield Buffer.from([...texts, timeLine(throughMs + 5000), timeLine(throughMs + 10_000)].join(''));
  }
  const bad: string[] = [];
  const onBadLine = ({ reason }: { reason: string }) => bad.push(reason);
  await follow(store, pieces(), options({ everyMs: 50, now: () => after, onBadLine }));
  expect(bad).toEqual([]);
  return testApp({ store: { ...store, endedBarsOnly: true }, nowMs });
}

/** A caller who saved a screen. */
async function screening(app: TestApp): Promise<string> {
  const credential = await app.session();
  await saveScreen(app, credential);
  return credential;
}

const texts = {
  Ticker: '"SPY"',
  symbols: '["SPY", "AAPL", "SPX"]',
  OptionContractId: `"${call}"`,
  ids: `["${call}"]`,
  'chainDiff.expiry': '"2026-12-18"',
  'chain.expiry': '"2026-12-18"',
  from: '"2026-11-27T09:20"',
  'bars.from': '"2026-11-24"',
  'bars.to': '"2026-12-02"',
  'bars.limit': '2000',
  'bars.adjusted': 'true',
  'history.date': '"2026-11-30"',
  'history.topStrikes': '3',
  'rate.days': '30',
  where: '{}',
  orderBy: '{ figure: change_pct }',
  first: '3',
  last: '3',
  date: '"2026-11-27"',
  minute: '"10:00"',
  strike: '600000',
  expiry: '"2026-12-18"',
  limit: '50',
  'largeTrades.limit': '5',
  at: '"2026-11-27T12:56"',
  time: '"2026-11-27T12:56"',
  right: 'call',
  'screen.id': '"none"',
};
/** Fields to read of each symbol; ranges end at the instant. */
const walksAt = (ms: number) =>
  ['SPY', 'AAPL'].map((symbol) => ({
    symbol,
    fields: asOfFields(new GraphWalk({ ...texts, to: `"${ms}"`, Ticker: `"${symbol}"` }, notSelected), symbol),
  }));

/** Numbers of commits and lines count the tape as it came; a quote of the past has no time of its last trade. */
const ofTheTape =
  /\.(seq|cursor|startCursor|endCursor|observedThroughMs|throughLine|fromLine|lines|ingestedAt)$|\.quotes?\.(.*\.)?eventTsMs$/;
/** Flow of the past is of whole minutes. */
const ofMinutes = /crossSection|\.flow(\.|$)/;

/** Adds each place at which two answers differ. */
function differences(asOf: Json, live: Json, path: string, found: string[]): void {
  if (Object.is(asOf, live)) return;
  if (asOf === null || live === null || typeof asOf !== 'object' || typeof live !== 'object') {
    if (!ofTheTape.test(path)) found.push(`${path}: ${JSON.stringify(asOf)}, live ${JSON.stringify(live)}`);
    return;
  }
  for (const key of new Set([...Object.keys(asOf), ...Object.keys(live)]))
    differences(asOf[key], live[key], `${path}.${key}`, found);
}

const errorsOf = ({ errors = [] }: { errors?: Json[] }) => errors.map(({ message }) => message).sort();

describe.each(Array.from({ length: seeds }, (_, i) => firstSeed + i))(
  'a tape of seed %i',
  { timeout: 300_000 },
  (seed) => {
    const tape = correctableTape(seed);
    const random = randomOf(seed + 7);
    const instants = Array.from({ length: instantsOfTape }, (_, i) => {
      const [from, through] = random.pick(tape.spans);
      // Whole seconds, the resolution of quotes and bars; every other one a whole minute.
      const seconds = random.below((through - from) / 1000 + 120);
      return from + 1000 * (i % 2 === 0 ? seconds : seconds - (seconds % 60));
    });
    let whole: TestApp | undefined;
    afterAll(async () => {
      await whole?.close();
    });

    test.each(instants.map((ms) => [new Date(ms).toISOString(), ms] as const))('as of %s', async (_iso, ms) => {
      whole ??= await serverOf(tape.lines, after - 3_600_000, after);
      const cut = tape.lines.filter((line) => line.ms <= ms && !line.isWithdrawn);
      const then = await serverOf(cut, ms, ms);
      try {
        const differing: string[] = [];
        for (const { symbol, fields } of walksAt(ms))
          for (const [name, selection] of fields) {
            const [asOf, live] = await Promise.all([
              whole.graphql(`{ asOf(at: "${ms}") { ${selection} } }`, {}, { credential: await screening(whole) }),
              then.graphql(`{ ${selection} }`, {}, { credential: await screening(then) }),
            ]);
            const pair = [
              { errors: errorsOf(asOf), data: asOf.data?.asOf },
              { errors: errorsOf(live), data: live.data },
            ];
            differences(pair[0], pair[1], `${symbol} ${name}`, differing);
          }
        const isMinute = ms % 60_000 === 0;
        expect(differing.filter((each) => isMinute || !ofMinutes.test(each))).toEqual([]);
      } finally {
        await then.close();
      }
    });
  },
);
