import { randomBytes } from 'node:crypto';
import { describe, expect, it } from 'vitest';
import { isId } from '../../../src/core/domain/account.ts';
import { isStorableText } from '../../../src/platform/runtime/storable-text.ts';
import { ulid } from '../../../src/platform/runtime/ulid.ts';

describe('ULIDs', () => {
  it('begin with the instant (example of the ULID specification)', () => {
    expect(ulid(1469918176385, (size) => new Uint8Array(size))).toBe('01ARYZ6S410000000000000000');
  });

  it('sort by time and do not repeat', () => {
    const earlier = ulid(1_700_000_000_000, randomBytes);
    const later = ulid(1_700_000_000_001, randomBytes);
    expect(earlier < later).toBe(true);
    expect(new Set(Array.from({ length: 1000 }, () => ulid(0, randomBytes))).size).toBe(1000);
    expect(earlier).toMatch(/^[0-7][0-9A-HJKMNP-TV-Z]{25}$/);
  });
});

describe('ids that others chose', () => {
  it.each(['a', 'auth0|5f7c8ec7c33c6c004bbafe82', 'ana@example.com', 'имя', '😀', 'x'.repeat(128)])(
    'may be %s',
    (id) => {
      expect(isId(id)).toBe(true);
    },
  );

  it.each(['', 'x'.repeat(129), 'a\u0000b', 'a\nb', '\ud800', 'a\udfff'])('may not be %j', (id) => {
    expect(isId(id)).toBe(false);
  });

  it('texts are stored without NUL and broken surrogates', () => {
    expect(isStorableText('line\nline 😀')).toBe(true);
    expect(isStorableText('a\u0000')).toBe(false);
    expect(isStorableText('\ud83d')).toBe(false);
  });
});
