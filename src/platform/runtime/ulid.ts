/** Returns `size` unpredictable bytes. Passed in, so that tests can choose them. */
export type RandomBytes = (size: number) => Uint8Array;

// Crockford's base 32: no I, L, O, U.
const alphabet = '0123456789ABCDEFGHJKMNPQRSTVWXYZ';

/** A ULID: 26 characters, ten of the instant (epoch ms, so that ids sort by time) and sixteen of randomness. */
export function ulid(nowMs: number, random: RandomBytes): string {
  let time = '';
  for (let rest = Math.floor(nowMs), i = 0; i < 10; i += 1) {
    time = alphabet[rest % 32] + time;
    rest = Math.floor(rest / 32);
  }
  // 256 is a multiple of 32, so the low five bits of a byte are an unbiased digit.
  let tail = '';
  for (const byte of random(16)) tail += alphabet[byte & 31];
  return time + tail;
}
