// A live tape whose chains come in parts makes the captures that files of them do.
import { Readable } from 'node:stream';
import { expect, test } from 'vitest';
import { exchangeInstant } from '../../../../src/core/domain/market-time.ts';
import { follow } from '../../../../src/intake/ingest/tail/follow.ts';
import { modelColumns } from '../../../support/model-columns.ts';
import { storeForThisTest } from '../../../support/store.ts';
import { worth } from '../../../support/tapes/quoted-tape.ts';

const session = '2026-11-16';
const at = (minute: number) => exchangeInstant(session, minute);

function line(minute: number, right: 'call' | 'put'): string {
  const rows = [5900, 5950, 6000, 6050, 6100].map((strike) => {
    const contract = { root: 'SPXW', expiry: '2026-11-20', right, strike: strike * 1000 };
    const fair = worth(contract, 6000, at(minute));
    const name = `O:SPXW261120${right === 'call' ? 'C' : 'P'}0${strike}000`;
    return { contract: name, open_interest: 100, bid: fair - 0.02, ask: fair + 0.02 };
  });
  const header = { underlying: 'SPX', captured_at_ms: at(minute), spot: 6000, prior_close_spot: 5990 };
  return `${JSON.stringify({ type: 'chain', ...header, rows })}\n`;
}

const lines = [line(600, 'call'), line(600.5, 'put'), line(605, 'call'), line(605.5, 'put')];

async function followed(order: readonly number[]) {
  const store = await storeForThisTest();
  // Each line is a commit of its own.
  for (const index of order)
    await follow(store, Readable.from([Buffer.from(lines[index]!)]), {
      source: `part-${index}`,
      fromStart: true,
      everyMs: 1,
      now: () => at(700),
      stop: new AbortController().signal,
      onBadLine: () => {},
      gammaSource: 'solve',
      rate: 0.045,
    });
  const read = async (table: 'chain_captures' | 'gex_captures') =>
    (await store.pool.query(`SELECT ${modelColumns(table)} FROM ${table} ORDER BY captured_at`)).rows;
  return { chains: await read('chain_captures'), gex: await read('gex_captures') };
}

test('calls and puts are one chain each time, in whatever order the lines come', async () => {
  const expected = await followed([0, 1, 2, 3]);
  expect(expected.chains.map((row) => [row.captured_at, row.row_count, row.subset])).toEqual([
    [at(600.5), 10, false],
    [at(605.5), 10, false],
  ]);
  expect(expected.gex).toHaveLength(2);
  expect(await followed([3, 0, 2, 1])).toEqual(expected);
});
