import type { IncomingMessage } from 'node:http';
import { Readable } from 'node:stream';
import { expect, test } from 'vitest';
import { releaseBytes, requestBody } from '../../../src/platform/http/request-body.ts';
import { randomOf } from '../../support/random.ts';

/** A request whose body comes in these pieces. */
function requestOf(pieces: readonly Buffer[]): IncomingMessage {
  const headers = { 'transfer-encoding': 'chunked' };
  return Object.assign(Readable.from(pieces), { headers }) as unknown as IncomingMessage;
}

/** Bytes that share no memory with others, as those of a request. */
const own = (bytes: Uint8Array) => Buffer.from(new Uint8Array(bytes).buffer);

test('the bytes of a body are those of its pieces, whose memory is free when they were joined', async () => {
  const random = randomOf(1);
  for (const most of [10, 3000, 70_000]) {
    const pieces = Array.from({ length: 1 + random.below(300) }, () =>
      own(Uint8Array.from({ length: 1 + random.below(most) }, () => random.below(256))),
    );
    const expected = Buffer.concat(pieces);
    const bytes = await requestBody(requestOf(pieces), expected.length, '');
    expect(bytes.equals(expected)).toBe(true);
    expect(pieces.filter((piece) => piece !== bytes && piece.length > 0)).toEqual([]);
  }
});

test('the memory of bytes that share it stays', () => {
  const whole = own(Buffer.from('a body and another'));
  releaseBytes(whole.subarray(0, 6));
  expect(whole.toString()).toBe('a body and another');
  releaseBytes(whole);
  expect(whole.length).toBe(0);
});
