import type { IncomingMessage } from 'node:http';
import { BlockList, isIP, isIPv4, type Socket } from 'node:net';

/**
 * The address of a request's client, as limits count it: an IPv4 address, an IPv6 /64, or `unknown` once the socket is
 * gone. Without headers it is the block of the socket's peer.
 */
export type ClientAddress = (request: Pick<IncomingMessage, 'socket' | 'headers'>) => string;

/** Named ranges of `TRUSTED_PROXIES`. */
const namedRanges: Record<string, readonly string[]> = {
  loopback: ['127.0.0.0/8', '::1/128'],
  private: ['10.0.0.0/8', '172.16.0.0/12', '192.168.0.0/16', 'fc00::/7'],
};

/** Description of a valid entry of `TRUSTED_PROXIES`. */
export const trustedProxyExpected =
  'addresses or ranges such as 10.0.0.0/8, or the words loopback and private, separated by commas';

function parseRange(text: string): { address: string; bits: number; family: 'ipv4' | 'ipv6' } | null {
  const [, address = '', bitsText] = /^([\da-fA-F.:]+)(?:\/(\d{1,3}))?$/.exec(text) ?? [];
  const version = isIP(address);
  const width = version === 4 ? 32 : 128;
  const bits = bitsText === undefined ? width : Number(bitsText);
  return version === 0 || bits > width ? null : { address, bits, family: version === 4 ? 'ipv4' : 'ipv6' };
}

/** True for a valid entry of `TRUSTED_PROXIES`: an address, a range in CIDR notation, `loopback` or `private`. */
export function isTrustedProxy(text: string): boolean {
  return Object.hasOwn(namedRanges, text) || parseRange(text) !== null;
}

function rangesOf(entries: readonly string[]): BlockList {
  const list = new BlockList();
  for (const text of entries.flatMap((entry) => namedRanges[entry] ?? [entry])) {
    const range = parseRange(text);
    if (range === null) throw new TypeError(`not a range of addresses: ${text}`);
    list.addSubnet(range.address, range.bits, range.family);
  }
  return list;
}

/** The eight groups of an IPv6 address, each in lower-case hexadecimal without leading zeros. */
function groupsOf(address: string): string[] {
  const [head = '', tail] = new URL(`http://[${address}]`).hostname.slice(1, -1).split('::');
  const before = head === '' ? [] : head.split(':');
  const after = tail ? tail.split(':') : [];
  return [...before, ...Array<string>(8 - before.length - after.length).fill('0'), ...after];
}

const loopback = rangesOf(['loopback']);
const forwardingHeader = /^(x-forwarded-.*|x-real-ip|forwarded|via)$/;

/**
 * True if a request comes from this machine without a proxy: a loopback peer, no forwarding header, and a `Host` of
 * this machine. The last excludes pages of other sites whose name resolves here.
 */
export function isFromThisMachine({ socket, headers }: Pick<IncomingMessage, 'socket' | 'headers'>): boolean {
  const peer = normalized(socket.remoteAddress ?? '');
  if (peer === null || !loopback.check(peer, isIPv4(peer) ? 'ipv4' : 'ipv6')) return false;
  if (Object.keys(headers).some((name) => forwardingHeader.test(name))) return false;
  const host = (headers.host ?? '')
    .replace(/:\d+$/, '')
    .replace(/^\[(.*)\]$/, '$1')
    .toLowerCase();
  return host === 'localhost' || (isIP(host) !== 0 && loopback.check(host, isIPv4(host) ? 'ipv4' : 'ipv6'));
}

/** Canonical form of an address, or null if the text is not one: without zone or port, IPv4-mapped IPv6 as IPv4. */
function normalized(text: string): string | null {
  const bare = /^\[([^\]]*)\](?::\d+)?$/.exec(text)?.[1] ?? /^([\d.]+):\d+$/.exec(text)?.[1] ?? text;
  const address = bare.replace(/%.*$/, '');
  if (isIP(address) !== 6) return isIPv4(address) ? address : null;
  const groups = groupsOf(address);
  if (groups.slice(0, 5).some((group) => group !== '0') || groups[5] !== 'ffff') return groups.join(':');
  const [high, low] = [Number.parseInt(groups[6]!, 16), Number.parseInt(groups[7]!, 16)];
  return [high >> 8, high & 255, low >> 8, low & 255].join('.');
}

/** The block of addresses that usually belongs to one client: an IPv4 address, or an IPv6 /64. */
function blockOf(address: string): string {
  return isIPv4(address) ? address : `${groupsOf(address).slice(0, 4).join(':')}::/64`;
}

function splitHeader(value: string | string[] | undefined): string[] {
  return value === undefined ? [] : String(value).split(',');
}

// Addresses of RFC 7239: `for=192.0.2.1`, `for="[2001:db8::1]:443"`.
function forwardedHop(element: string): string {
  return /(?:^|;)\s*for\s*=\s*"?([^";\s]*)"?/i.exec(element)?.[1] ?? '';
}

/**
 * The first address from the right that is not a trusted proxy's. A hop without an address ends the search at the proxy
 * that reported it.
 */
function clientOf(peer: string, hops: readonly string[], trusted: (address: string) => boolean): string {
  let client = peer;
  for (const hop of hops.toReversed()) {
    if (!trusted(client)) return client;
    const address = normalized(hop.trim());
    if (address === null) return client;
    client = address;
  }
  return client;
}

/**
 * Identifies clients behind the proxies of `trustedProxies` (syntax: `isTrustedProxy`): the first address from the
 * right of `X-Forwarded-For`, or of `Forwarded`, that is not a trusted proxy's. Without trusted proxies it is the
 * socket's peer; the headers are ignored. A proxy usually writes one of the two headers and passes the other through,
 * so if both are present and name different clients, neither is trusted and the peer's address counts.
 */
export function clientAddressOf(trustedProxies: readonly string[]): ClientAddress {
  const ranges = rangesOf(trustedProxies);
  const trusted = (address: string) => ranges.check(address, isIPv4(address) ? 'ipv4' : 'ipv6');
  return ({ socket, headers }) => {
    const peer = normalized(socket.remoteAddress ?? '');
    if (peer === null) return 'unknown';
    if (!trusted(peer)) return blockOf(peer);
    const named = [splitHeader(headers['x-forwarded-for']), splitHeader(headers.forwarded).map(forwardedHop)]
      .filter((hops) => hops.length > 0)
      .map((hops) => blockOf(clientOf(peer, hops, trusted)));
    return new Set(named).size === 1 ? named[0]! : blockOf(peer);
  };
}

/**
 * The address that connections of a peer count for, as for `ClientAddress`; null if clients share the peer, which is
 * one of `sharedPeers` (syntax: `isTrustedProxy`), or its address is unknown.
 */
export function peerAddressOf(
  sharedPeers: readonly string[],
): (socket: Pick<Socket, 'remoteAddress'>) => string | null {
  const ranges = rangesOf(sharedPeers);
  return ({ remoteAddress }) => {
    const peer = normalized(remoteAddress ?? '');
    return peer === null || ranges.check(peer, isIPv4(peer) ? 'ipv4' : 'ipv6') ? null : blockOf(peer);
  };
}

/** True if a request has one host (RFC 9112, 3.2). HTTP/1.0 does not require one. */
export function namesOneHost({ headersDistinct, httpVersion }: IncomingMessage): boolean {
  const hosts = headersDistinct.host?.length ?? 0;
  return hosts === 1 || (hosts === 0 && httpVersion === '1.0');
}
