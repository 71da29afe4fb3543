import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { expect, test } from 'vitest';
import { follow } from '../../../../src/intake/ingest/tail/follow.ts';
import { storeForThisTest } from '../../../support/store.ts';
import { tapeStart } from '../../../support/tapes/option-tape.ts';

setFlagsFromString('--expose-gc');
const collect = runInNewContext('gc') as () => void;

const prints = 120_000;
const printsAPiece = 500;
const contract = 'O:SPY261218C00600000';

function pieceFrom(first: number): Buffer {
  const line = (n: number) =>
    `{"type":"option_print","contract":"${contract}","exchange":302,"price":1,"size":1,"conditions":[209],"sip_timestamp":"${tapeStart + 10 * n}000000","sequence_number":${n}}\n`;
  return Buffer.from(Array.from({ length: printsAPiece }, (_, i) => line(first + i)).join(''));
}

/** Objects that are alive, bytes. */
function alive(): number {
  collect();
  return process.memoryUsage().heapUsed;
}

test('a follower keeps nothing of the lines that it has taken', { timeout: 120_000 }, async () => {
  const store = await storeForThisTest();
  const bytes: number[] = [];
  async function* tape() {
    for (let n = 1; n <= prints; n += printsAPiece) {
      if (n % (prints / 4) === 1) bytes.push(alive());
      yield pieceFrom(n);
    }
    bytes.push(alive());
  }
  await follow(store, tape(), {
    source: 'tape',
    fromStart: false,
    everyMs: 50,
    gammaSource: 'solve',
    rate: 0.045,
    now: () => tapeStart + 3_600_000,
    stop: new AbortController().signal,
    onBadLine: ({ reason }) => expect.fail(reason),
  });
  // Half of the prints, as objects, take some 12 MB.
  expect(bytes.at(-1)! - bytes[2]!).toBeLessThan(4 * 2 ** 20);
});
