import { randomBytes } from 'node:crypto';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import {
  generateApiKey,
  hashApiKey,
  isWellFormedApiKey,
  looksLikeApiKey,
} from '../../../src/access/identity/api-keys.ts';

describe('API keys', () => {
  it('have a prefix, 26 random base-62 digits and a checksum of six', () => {
    const { key, hash, prefix } = generateApiKey(randomBytes);
    expect(key).toMatch(/^tg_live_[0-9A-Za-z]{26}_[0-9A-Za-z]{6}$/);
    expect(hash).toBe(hashApiKey(key));
    expect(hash).toMatch(/^[0-9a-f]{64}$/);
    expect(key.startsWith(prefix)).toBe(true);
    expect(prefix).toHaveLength(12);
    expect(isWellFormedApiKey(key)).toBe(true);
    expect(looksLikeApiKey(key)).toBe(true);
  });

  it('are the same for the same randomness (worked example)', () => {
    // 26 zero bytes give 26 zeros; CRC-32 of what precedes (by Python's zlib) in base 62.
    expect(generateApiKey((size) => new Uint8Array(size)).key).toBe('tg_live_00000000000000000000000000_4DVcid');
  });

  it('take no digit from a byte that would make some digits likelier', () => {
    const asked: number[] = [];
    const { key } = generateApiKey((size) => {
      asked.push(size);
      // First all bytes are out of range, then all are 61 (z).
      return new Uint8Array(size).fill(asked.length === 1 ? 248 : 61);
    });
    expect(asked).toHaveLength(2);
    expect(key.slice(8, 34)).toBe('z'.repeat(26));
  });

  it('spread evenly over the 62 digits', () => {
    const counts = new Map<string, number>();
    for (let i = 0; i < 2000; i += 1) {
      for (const digit of generateApiKey(randomBytes).key.slice(8, 34)) counts.set(digit, (counts.get(digit) ?? 0) + 1);
    }
    expect(counts.size).toBe(62);
    const expected = (2000 * 26) / 62; // 839 each, standard deviation 29: seven of them is never met by chance
    for (const count of counts.values()) expect(Math.abs(count - expected)).toBeLessThan(7 * 29);
  });

  it('are refused when any one character was changed', () => {
    const digit = fc.constantFrom(...'0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz');
    fc.assert(
      fc.property(fc.integer({ min: 0, max: 40 }), digit, (at, other) => {
        const { key } = generateApiKey(randomBytes);
        fc.pre(key[at] !== other);
        expect(isWellFormedApiKey(key.slice(0, at) + other + key.slice(at + 1))).toBe(false);
      }),
    );
  });

  it('are refused when they are anything else', () => {
    fc.assert(fc.property(fc.string({ unit: 'binary' }), (text) => !isWellFormedApiKey(text)));
    const { key } = generateApiKey(randomBytes);
    for (const text of ['', 'tg_live_', `${key}\n`, ` ${key}`, key.toUpperCase(), `${key}0`, key.slice(0, -1)]) {
      expect(isWellFormedApiKey(text)).toBe(false);
    }
  });
});
