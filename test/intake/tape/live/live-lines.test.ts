import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { createContractBook } from '../../../../src/core/domain/chain/contract-book.ts';
import type { BadLine } from '../../../../src/intake/tape/csv/tape-file.ts';
import { readLiveLines } from '../../../../src/intake/tape/live/live-lines.ts';

const now = () => 1_710_600_000_000;
const time = (second: number) => `{"type":"time","sip_timestamp":"${1_710_511_200 + second}000000000"}`;

async function readAll(pieces: Iterable<Uint8Array>) {
  const bad: string[] = [];
  const seconds: number[] = [];
  const through: number[] = [];
  async function* source() {
    yield* pieces;
  }
  const onBadLine = ({ file, line, reason }: BadLine) => bad.push(`${file}:${line}: ${reason}`);
  for await (const batch of readLiveLines(source(), { name: 'stdin', book: createContractBook(), now, onBadLine })) {
    for (const record of batch.records) if (record.type === 'time') seconds.push(record.tsMs / 1000 - 1_710_511_200);
    through.push(batch.throughLine);
  }
  return { bad, seconds, through };
}

describe('the live tape as a stream', () => {
  it('gives every line once, however the stream is cut', async () => {
    const text = Buffer.from(`\ufeff${time(0)}\r\n\n${time(1)}\nrübe\n${time(2)}\n  \n${time(3)}`);
    await fc.assert(
      fc.asyncProperty(fc.uniqueArray(fc.integer({ min: 0, max: text.length }), { maxLength: 12 }), async (cuts) => {
        const places = [0, ...cuts.sort((a, b) => a - b), text.length];
        const { bad, seconds, through } = await readAll(places.slice(1).map((end, i) => text.subarray(places[i], end)));
        expect(seconds).toEqual([0, 1, 2, 3]);
        expect(bad).toEqual(['stdin:4: not a JSON object']);
        expect(through.at(-1)).toBe(7);
      }),
    );
  });

  it('tells what arrived at once, before more is asked of the stream', async () => {
    let asked = 0;
    async function* source() {
      for (let second = 0; second < 3; second++) {
        asked++;
        yield Buffer.from(`${time(second)}\n{"type"`);
        yield Buffer.from(':1}\n');
      }
    }
    const batches = readLiveLines(source(), { name: 'stdin', book: createContractBook(), now, onBadLine: () => {} });
    expect((await batches.next()).value).toMatchObject({ records: [{ type: 'time' }], throughLine: 1 });
    expect(asked).toBe(1);
  });

  it('does not keep what the stream uses again', async () => {
    const piece = Buffer.alloc(time(0).length + 1);
    function* pieces() {
      const line = Buffer.from(`${time(0)}\n`);
      for (let at = 0; at < line.length; at += 7) {
        const part = line.subarray(at, at + 7);
        part.copy(piece);
        yield piece.subarray(0, part.length);
      }
    }
    expect((await readAll(pieces())).seconds).toEqual([0]);
  });

  it('passes over bytes that are no text, and lines without an end, in bounded memory', async () => {
    const block = Buffer.alloc(4 * 1024 * 1024, 0x20);
    function* pieces() {
      yield Buffer.from([0xff, 0xfe, 0x0a]);
      for (let i = 0; i < 40; i++) yield block;
      yield Buffer.from(`\n${time(5)}\n`);
    }
    const before = process.memoryUsage().arrayBuffers;
    const { bad, seconds } = await readAll(pieces());
    expect(process.memoryUsage().arrayBuffers - before).toBeLessThan(150 * 1024 * 1024);
    expect(bad).toEqual(['stdin:1: not UTF-8 text', 'stdin:2: over 67108864 bytes long']);
    expect(seconds).toEqual([5]);
  });
});
