import { createHash } from 'node:crypto';
import { crc32 } from 'node:zlib';
import type { RandomBytes } from '../../platform/runtime/ulid.ts';

const base62 = '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz';
const keyStart = 'tg_live_';
const keyPattern = /^tg_live_[0-9A-Za-z]{26}_[0-9A-Za-z]{6}$/;

/** Number of characters of a key that are stored in clear text, to identify it: the prefix and four of the 26. */
const shownLength = keyStart.length + 4;

/** A new key: the part shown once to its owner, and the stored part. */
export interface NewApiKey {
  /** The key itself. Never stored, never logged. */
  key: string;
  /** SHA-256 of the key, hex, by which it is looked up. */
  hash: string;
  /** Its first characters. */
  prefix: string;
}

/**
 * Six base-62 digits over the text before them, to detect typing errors and invented keys without the database. Not a
 * secret.
 */
function checksum(text: string): string {
  let digits = '';
  for (let rest = crc32(text), i = 0; i < 6; i += 1) {
    digits = base62[rest % 62] + digits;
    rest = Math.floor(rest / 62);
  }
  return digits;
}

function randomDigits(length: number, random: RandomBytes): string {
  let digits = '';
  while (digits.length < length) {
    // 248 = 4·62: larger bytes would make the first eight digits more likely than the rest.
    for (const byte of random(length)) if (byte < 248 && digits.length < length) digits += base62[byte % 62];
  }
  return digits;
}

/** SHA-256 of a key, hex. A key has 154 random bits, so a fast hash without salt is enough. */
export function hashApiKey(key: string): string {
  return createHash('sha256').update(key).digest('hex');
}

/** Generates a key `tg_live_<26 random>_<6 checksum>`, base 62. */
export function generateApiKey(random: RandomBytes): NewApiKey {
  const body = keyStart + randomDigits(26, random);
  const key = `${body}_${checksum(body)}`;
  return { key, hash: hashApiKey(key), prefix: key.slice(0, shownLength) };
}

/** True if a credential has the prefix of an API key, unlike a session token. */
export function looksLikeApiKey(credential: string): boolean {
  return credential.startsWith('tg_');
}

/** True if `text` has the form of a key and its checksum is correct. Such a key may never have been issued. */
export function isWellFormedApiKey(text: string): boolean {
  return keyPattern.test(text) && checksum(text.slice(0, -7)) === text.slice(-6);
}
