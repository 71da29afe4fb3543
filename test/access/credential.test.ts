import { describe, expect, it } from 'vitest';
import { credentialOf } from '../../src/access/credential.ts';

describe('the credential of a request', () => {
  it.each(['Bearer abc', 'bearer abc', 'BEARER   abc', '  Bearer abc  '])(
    'is read from Authorization: %s',
    (authorization) => {
      expect(credentialOf({ authorization })).toBe('abc');
    },
  );

  it('is read from X-API-Key when Authorization has none', () => {
    expect(credentialOf({ 'x-api-key': ' abc ' })).toBe('abc');
    expect(credentialOf({ 'x-api-key': 'abc', authorization: 'Basic dXNlcjpwYXNz' })).toBe('abc');
    expect(credentialOf({ 'x-api-key': 'abc', authorization: 'Bearer ' })).toBe('abc');
  });

  it('is the bearer when both are sent', () => {
    expect(credentialOf({ 'x-api-key': 'key', authorization: 'Bearer token' })).toBe('token');
  });

  it.each([
    {},
    { authorization: '' },
    { authorization: 'Bearer' },
    { authorization: 'Bearerabc' },
    { authorization: 'abc' },
    { 'x-api-key': '  ' },
  ])('is null for %j', (headers) => {
    expect(credentialOf(headers)).toBeNull();
  });

  it('does not pick one of two X-API-Key headers', () => {
    expect(credentialOf({ 'x-api-key': ['a', 'b'] })).toBe('a,b');
  });
});
