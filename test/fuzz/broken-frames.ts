import type { Random } from '../support/random.ts';
import { type ClientFrame, frameBytes, opcodes } from './socket-frames.ts';
import { hostileBody } from './values.ts';

/** Four bytes that a client masks with. */
export const maskOf = (random: Random): Buffer => Buffer.from(Array.from({ length: 4 }, () => random.below(256)));

const { text, continuation, ping, close } = opcodes;
const words = Buffer.from('{"op":"ping","type":"ping"}');
const closeWith = (code: number, reason: string | Buffer = '') =>
  Buffer.concat([Buffer.from([code >> 8, code & 0xff]), Buffer.from(reason)]);

type Drawn = Partial<ClientFrame>;

/** Frames that break the protocol at once, by what is wrong with them: the server must close. */
const refused: ((random: Random) => Drawn[])[] = [
  () => [{ mask: null }],
  (random) => [{ opcode: random.pick([3, 4, 5, 6, 7, 11, 12, 13, 14, 15]) }],
  (random) => [{ reserved: 1 + random.below(7) }],
  () => [{ opcode: continuation }],
  (random) => [{ fin: false }, { opcode: random.pick([text, opcodes.bytes]) }],
  (random) => [{ opcode: random.pick([ping, opcodes.pong, close]), fin: false }],
  (random) => [{ opcode: random.pick([ping, opcodes.pong, close]), payload: Buffer.alloc(126 + random.below(9)) }],
  () => [{ opcode: close, payload: Buffer.from([3]) }],
  (random) => [
    { opcode: close, payload: closeWith(random.pick([0, 999, 1004, 1005, 1006, 1015, 2999, 5000, 65_535])) },
  ],
  () => [{ opcode: close, payload: closeWith(1000, Buffer.from([0xff, 0xfe])) }],
  (random) => [{ length: random.pick([2 ** 31, 2 ** 40, Number.MAX_SAFE_INTEGER, 2 ** 60]) }],
  () => [{ payload: Buffer.from([0x7b, 0xed, 0xa0, 0x80, 0x7d]) }],
  (random) => Array.from({ length: 20_000 }, () => ({ opcode: random.pick([ping, 0x0b]) })),
];

/** Frames after which nothing can be expected but that the connection ends with its client. */
const unfinished: ((random: Random, mask: Buffer) => Buffer)[] = [
  (_, mask) => frameBytes({ opcode: text, payload: words, mask, length: 500 }),
  (_, mask) => frameBytes({ opcode: text, payload: words, mask, length: 60_000 }),
  (random, mask) => frameBytes({ opcode: text, payload: words, mask, length: random.below(words.length) }),
  (random, mask) => frameBytes({ opcode: text, payload: words, mask }).subarray(0, 1 + random.below(words.length)),
  (_, mask) => frameBytes({ opcode: text, payload: words, mask, fin: false }),
  (_, mask) => {
    const parts = Array.from({ length: 300 }, () =>
      frameBytes({ opcode: continuation, payload: Buffer.alloc(1), mask, fin: false }),
    );
    return Buffer.concat([frameBytes({ opcode: text, payload: words, mask, fin: false }), ...parts]);
  },
  (random) => hostileBody(random).subarray(0, 70_000),
];

/** Bytes that a server must answer with a close. */
export function refusedFrames(random: Random): Buffer {
  const mask = maskOf(random);
  const frames = random.pick(refused)(random);
  return Buffer.concat(frames.map((frame) => frameBytes({ opcode: text, payload: words, mask, ...frame })));
}

/** Half frames, lengths that lie, messages without an end, bytes that are no frames. */
export const unfinishedFrames = (random: Random): Buffer => random.pick(unfinished)(random, maskOf(random));

/** A close frame as clients send it. */
export const closeFrame = (random: Random): Buffer =>
  frameBytes({
    opcode: close,
    payload: random.once(3) ? Buffer.alloc(0) : closeWith(random.pick([1000, 1001, 3000, 4999]), 'é bye'),
    mask: maskOf(random),
  });
