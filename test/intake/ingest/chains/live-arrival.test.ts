// A chain among the lines of a live tape is solved with the minutes before it, however late these are solved.
import { Readable } from 'node:stream';
import { expect, test } from 'vitest';
import { contractId, readOptionContract } from '../../../../src/core/domain/chain/option-contract.ts';
import { storeChain } from '../../../../src/intake/ingest/chains/chain.ts';
import { follow } from '../../../../src/intake/ingest/tail/follow.ts';
import { minuteMs } from '../../../../src/platform/runtime/clock.ts';
import { chainCapturesAt } from '../../../../src/store/chain/chain-captures.ts';
import { saveSymbols } from '../../../../src/store/market/symbols.ts';
import { inTransaction } from '../../../../src/store/rows/transaction.ts';
import { testSymbols } from '../../../support/app.ts';
import { modelColumns } from '../../../support/model-columns.ts';
import { chainCapture } from '../../../support/option-market.ts';
import { storeForThisTest } from '../../../support/store.ts';
import { liveLineOf, quotedOpen, quotedTape, worth } from '../../../support/tapes/quoted-tape.ts';

const settings = { gammaSource: 'solve', rate: 0.045 } as const;
const tape = quotedTape().filter(({ ms }) => ms < quotedOpen + 15 * minuteMs);
const [gap, ...quoted] = [
  'O:SPXW261218C06050000',
  'O:SPXW261218C05950000',
  'O:SPXW261218P05950000',
  'O:SPXW261218C06000000',
  'O:SPXW261218P06000000',
];
/** Exactly at a minute that the tape solves. */
const capturedAt = quotedOpen + 10 * minuteMs;

/** The line of a chain that says nothing of one contract. */
function chainLine(): string {
  const rows = [gap!, ...quoted].map((contract) => {
    const fair = worth(readOptionContract(contract)!, 6000, capturedAt);
    const quote = contract === gap ? { bid: null, ask: null } : { bid: fair - 0.05, ask: fair + 0.05 };
    return { contract, open_interest: 100, volume: null, ...quote };
  });
  const header = { underlying: 'SPX', captured_at_ms: capturedAt, spot: 6000, prior_close_spot: 5990 };
  return `${JSON.stringify({ type: 'chain', ...header, rows })}\n`;
}

/** Rows stored if the chain arrives after everything that happened until an instant. */
async function published(behindMs: number) {
  const store = await storeForThisTest();
  await inTransaction(store, async (tx) => {
    await saveSymbols(tx, testSymbols);
    // An index has no prints of its own: its chains tell what it costs.
    await storeChain(tx, chainCapture('SPX', quotedOpen, [], { spot: 6000, priorCloseSpot: 5990 }), settings);
  });
  const [early, late] = [tape.filter(({ ms }) => ms < behindMs), tape.filter(({ ms }) => ms >= behindMs)];
  const pieces = [early.map(liveLineOf).join(''), chainLine(), late.map(liveLineOf).join('')].map(Buffer.from);
  await follow(store, Readable.from(pieces.filter(({ length }) => length > 0)), {
    source: 'stdin',
    fromStart: true,
    everyMs: 1,
    now: () => quotedOpen + 60 * minuteMs,
    stop: new AbortController().signal,
    onBadLine: () => {},
    ...settings,
  });
  const [chain] = await chainCapturesAt(store, [{ underlying: 'SPX', atMs: capturedAt }]);
  const { rows: gex } = await store.pool.query(`SELECT ${modelColumns('gex_captures')} FROM gex_captures`);
  return { solved: chain!.rows.find((row) => contractId(row) === gap)!.solved, gex };
}

test('a live chain gives the same whether the minute before it was solved by then or not', async () => {
  const expected = await published(capturedAt + 4 * minuteMs);
  expect(expected.solved).toMatchObject({ origin: 'previous', iv: expect.any(Number) });
  expect(expected.gex).toHaveLength(1);
  // A live chain arrives at its instant, when events before the minute may still be on their way.
  expect(await published(capturedAt)).toEqual(expected);
  expect(await published(capturedAt - minuteMs)).toEqual(expected);
  expect(await published(quotedOpen)).toEqual(expected);
});
