import type { IncomingMessage } from 'node:http';
import { describe, expect, it } from 'vitest';
import { clientAddressOf, isTrustedProxy, peerAddressOf } from '../../../src/platform/http/client-address.ts';

function request(remoteAddress: string | undefined, headers: Record<string, string> = {}): IncomingMessage {
  return { socket: { remoteAddress }, headers } as unknown as IncomingMessage;
}

describe('the client’s address', () => {
  it.each([
    ['192.0.2.7', '192.0.2.7'],
    ['::ffff:192.0.2.7', '192.0.2.7'],
    ['2001:db8:1:2:3:4:5:6', '2001:db8:1:2::/64'],
    ['2001:0DB8:0001:0002:0000:0000:0000:0001', '2001:db8:1:2::/64'],
    ['2001:db8::1', '2001:db8:0:0::/64'],
    ['::1', '0:0:0:0::/64'],
    ['fe80::1%eth0', 'fe80:0:0:0::/64'],
    [undefined, 'unknown'],
  ])('of the peer %s counts as %s', (peer, expected) => {
    expect(clientAddressOf([])(request(peer))).toBe(expected);
  });

  it('is the peer’s while no proxy is trusted, whatever the headers say', () => {
    const headers = { 'x-forwarded-for': '192.0.2.9', forwarded: 'for=192.0.2.9' };
    expect(clientAddressOf([])(request('10.0.0.1', headers))).toBe('10.0.0.1');
    expect(clientAddressOf(['10.0.0.0/8'])(request('198.51.100.1', headers))).toBe('198.51.100.1');
  });

  it.each([
    ['192.0.2.9', '192.0.2.9'],
    // The client's own header is on the left of what the proxies added.
    ['203.0.113.5, 192.0.2.9', '192.0.2.9'],
    ['203.0.113.5, 192.0.2.9, 10.9.9.9', '192.0.2.9'],
    ['10.1.1.1, 10.9.9.9', '10.1.1.1'],
    ['192.0.2.9:51234', '192.0.2.9'],
    ['[2001:db8:1:2::3]:443', '2001:db8:1:2::/64'],
    ['2001:db8:1:2::3', '2001:db8:1:2::/64'],
    ['::ffff:192.0.2.9', '192.0.2.9'],
    ['192.0.2.9, unknown', '10.0.0.1'],
    ['192.0.2.9, garbage, 10.9.9.9', '10.9.9.9'],
    ['', '10.0.0.1'],
  ])('is the first untrusted one from the right of X-Forwarded-For: %s', (sent, expected) => {
    const clientAddress = clientAddressOf(['10.0.0.0/8']);
    expect(clientAddress(request('10.0.0.1', { 'x-forwarded-for': sent }))).toBe(expected);
    expect(clientAddress(request('::ffff:10.0.0.1', { 'x-forwarded-for': sent }))).toBe(expected);
  });

  it.each([
    ['for=192.0.2.9;proto=https', '192.0.2.9'],
    ['for=203.0.113.5, proto=https; For="192.0.2.9:51234"; by=10.0.0.1', '192.0.2.9'],
    ['for="[2001:db8:1:2::3]:443", for=10.9.9.9', '2001:db8:1:2::/64'],
    ['for=192.0.2.9, for=_hidden', '10.0.0.1'],
    ['proto=https', '10.0.0.1'],
  ])('is read from Forwarded as well: %s', (sent, expected) => {
    expect(clientAddressOf(['private'])(request('10.0.0.1', { forwarded: sent }))).toBe(expected);
  });

  it('is the proxy’s own when both headers name different clients: one of them is the client’s invention', () => {
    const clientAddress = clientAddressOf(['loopback']);
    const headers = { 'x-forwarded-for': '192.0.2.9', forwarded: 'for=192.0.2.10' };
    expect(clientAddress(request('127.0.0.1', headers))).toBe('127.0.0.1');
    expect(clientAddress(request('127.0.0.1', { ...headers, forwarded: 'for=192.0.2.9' }))).toBe('192.0.2.9');
  });

  it.each([
    ['loopback', '127.8.9.1'],
    ['loopback', '::1'],
    ['private', '10.1.2.3'],
    ['private', '172.31.0.1'],
    ['private', '192.168.9.1'],
    ['private', 'fd00:1::1'],
    ['2001:db8::/32', '2001:db8:9::1'],
    ['198.51.100.7', '::ffff:198.51.100.7'],
  ])('%s trusts %s', (entry, peer) => {
    const headers = { 'x-forwarded-for': '192.0.2.9' };
    expect(clientAddressOf([entry])(request(peer, headers))).toBe('192.0.2.9');
  });

  it.each([
    ['loopback', '10.0.0.1'],
    ['private', '127.0.0.1'],
    ['private', '172.32.0.1'],
    ['198.51.100.7', '198.51.100.8'],
  ])('%s does not trust %s', (entry, peer) => {
    expect(clientAddressOf([entry])(request(peer, { 'x-forwarded-for': '192.0.2.9' }))).toBe(peer);
  });
});

describe('an entry of trusted proxies', () => {
  it.each(['10.0.0.1', '10.0.0.0/8', '::1', '2001:db8::/32', 'loopback', 'private'])('may be %s', (text) => {
    expect(isTrustedProxy(text)).toBe(true);
  });
  it.each(['', '10.0.0.0/33', '::/129', '10.0.0', 'proxy.example.com', 'all', 'toString', '10.0.0.0/', '10.0.0.0/-1'])(
    'may not be “%s”',
    (text) => {
      expect(isTrustedProxy(text)).toBe(false);
    },
  );
});

describe('the address that connections count for', () => {
  const addressOf = peerAddressOf(['loopback', '10.0.0.0/8']);
  it.each([
    ['203.0.113.9', '203.0.113.9'],
    ['::ffff:203.0.113.9', '203.0.113.9'],
    ['2001:db8:1:2:3:4:5:6', '2001:db8:1:2::/64'],
    ['2001:db8:1:2:ffff::1', '2001:db8:1:2::/64'],
    ['127.0.0.1', null],
    ['127.8.0.1', null],
    ['::1', null],
    ['::ffff:127.0.0.1', null],
    ['10.1.2.3', null],
    [undefined, null],
  ])('of %s is %s', (remoteAddress, address) => {
    expect(addressOf({ remoteAddress })).toBe(address);
  });
});
