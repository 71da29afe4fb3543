import { describe, expect, it } from 'vitest';
import { credentialOf } from '../../../src/access/identity/credential.ts';

describe('the credential of a request', () => {
  it.each(['Bearer abc', 'bearer abc', 'BEARER   abc', '  Bearer abc  '])(
    'is read from Authorization: %s',
    (authorization) => {
      expect(credentialOf({ authorization: [authorization] })).toBe('abc');
    },
  );

  it('is read from X-API-Key when Authorization has none', () => {
    expect(credentialOf({ 'x-api-key': [' tg_abc '] })).toBe('tg_abc');
    expect(credentialOf({ 'x-api-key': ['tg_abc'], authorization: ['Basic dXNlcjpwYXNz'] })).toBe('tg_abc');
    expect(credentialOf({ 'x-api-key': ['tg_abc'], authorization: ['Bearer '] })).toBe('tg_abc');
  });

  it('is the bearer when both are sent', () => {
    expect(credentialOf({ 'x-api-key': ['tg_key'], authorization: ['Bearer token'] })).toBe('token');
  });

  it.each([
    {},
    { authorization: [''] },
    { authorization: ['Bearer'] },
    { authorization: ['Bearerabc'] },
    { authorization: ['abc'] },
    { 'x-api-key': ['  '] },
    // A session token is none there.
    { 'x-api-key': ['eyJhbGciOiJIUzI1NiJ9.e30.c2ln'] },
  ])('is null for %j', (headers) => {
    expect(credentialOf(headers)).toBeNull();
  });

  it('is not picked from two of one header, though they are alike', () => {
    expect(() => credentialOf({ authorization: ['Bearer a', 'Bearer a'] })).toThrow(/^Authorization: expected one/);
    expect(() => credentialOf({ 'x-api-key': ['tg_a', 'tg_b'] })).toThrow(/^X-API-Key: expected one/);
  });
});
