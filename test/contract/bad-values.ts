import type { Random } from '../support/random.ts';

const long = (text: string, times: number) => text.repeat(times);

/** Texts that something somewhere might take wrongly. */
export const badTexts: readonly string[] = [
  '',
  ' ',
  '\0',
  'a\0b',
  '\r\nX-Evil: 1',
  '../../etc/passwd',
  '%',
  '%zz',
  '💥',
  'ẞ',
  'İ',
  'é✓',
  '\u202e',
  '\ufeffSPY',
  long('A', 41),
  long('A', 3000),
  '-1',
  '0',
  '-0',
  '1.5',
  '1e3',
  '1e309',
  '0x10',
  'NaN',
  'Infinity',
  '٣',
  long('9', 15),
  long('9', 16),
  long('9', 400),
  '9007199254740993',
  '2147483648',
  '4294967296',
  "' OR 1=1 --",
  '"; DROP TABLE accounts; --',
  '$1',
  '{"$gt":1}',
  '[object Object]',
  'true',
  'yes',
  'null',
  'undefined',
  '__proto__',
  'constructor',
  'toString',
  '2026-02-30',
  '2026-13-01',
  '0000-00-00',
  '0000-01-01',
  '9999-12-31',
  '+275760-09-13',
  '-271821-04-20',
  '8640000000000001',
  '-8640000000000000',
  '2026-11-30T25:61',
  '2026-11-30T09:30+99:99',
  '2026-11-30T09:30:00.123456789Z',
  '2026-11-01T01:30',
  '24:00',
  '09:60',
  'Mars/Phobos',
  'US/Eastern',
  'Etc/GMT+99',
  'utc',
  '+05:30',
  'O:',
  'O:SPY991332C00600000',
  'O:SPY261218C00000000',
  'O:SPY261218X00600000',
  'SPY261218C00600000',
  'SPY,',
  ',',
  'SPY,,SPY',
  long('SPY,', 200),
  'BRK/B',
  'BRK.BBBB',
  'SPY;QQQ',
  '*',
  '.',
  '..',
  '/',
];

/** Texts that are right somewhere, so that other parts of a request are looked at as well. */
const goodTexts = [
  'SPY',
  'spx',
  'ZZZ',
  '2026-11-30',
  '2026-12-01',
  '1795000000000',
  '5',
  '1m',
  'UTC',
  'call',
  'O:SPY261218C00600000',
];

/** Percent-encodings that are not UTF-8, or not percent-encoding. */
const badEncodings = ['%', '%zz', '%C3%28', '%ED%A0%80', '%FF', '%00', '%2F', '%2e%2e', '%0d%0a', '%u0041', '%E2%28'];

/** A piece of an address as it is sent: mostly bad, sometimes not even percent-encoding. */
export function badPiece(random: Random): string {
  if (random.once(8)) return random.pick(badEncodings);
  return encodeURIComponent(random.once(3) ? random.pick(goodTexts) : random.pick(badTexts));
}

/** A value of JSON, of any kind and at most `depth` deep. */
export function badJson(random: Random, depth = 3): unknown {
  const kinds: (() => unknown)[] = [
    () => null,
    () => random.once(2),
    () => random.pick([0, -1, 1.5, 1e308, -1e-320, 2 ** 53, 4_294_967_296]),
    () => random.pick(badTexts),
    () => random.pick(goodTexts),
    () => '\ud800',
    ...(depth > 0
      ? [
          () => Array.from({ length: random.below(4) }, () => badJson(random, depth - 1)),
          () =>
            Object.fromEntries(
              Array.from({ length: random.below(4) }, () => [random.pick(badFields), badJson(random, depth - 1)]),
            ),
        ]
      : []),
  ];
  return random.pick(kinds)();
}

const badFields = [
  'name',
  'symbols',
  'classification',
  'id',
  'account_id',
  'symbol',
  'side',
  'qty',
  'price',
  'ts',
  'note',
  'broker',
  '__proto__',
  'constructor',
  'toString',
  '',
  '💥',
];

/** A body as it is sent: text that may be JSON. */
export function badBody(random: Random): Buffer {
  switch (random.below(9)) {
    case 0:
      return Buffer.from(Array.from({ length: random.below(60) }, () => random.below(256)));
    case 1:
      return Buffer.from('['.repeat(random.pick([10, 5000, 60_000])));
    case 2:
      return Buffer.from(`${'{"a":'.repeat(2000)}1${'}'.repeat(2000)}`);
    case 3:
      return Buffer.from(' '.repeat(random.pick([1, 70_000])));
    case 4:
      return Buffer.from(`\ufeff${JSON.stringify(badJson(random))}`);
    case 5:
      return Buffer.from('id,account_id,symbol,side,qty,price,ts,note\n"a,b\n,,,\n"x""y",z\r\n');
    case 6:
      return Buffer.from(Array.from({ length: random.below(20) }, () => JSON.stringify(badJson(random, 1))).join('\n'));
    default:
      return Buffer.from(JSON.stringify(badJson(random)));
  }
}

const badHeaders: Record<string, readonly string[]> = {
  accept: [
    '',
    '*',
    'application/x-protobuf',
    'application/x-protobuf;q=abc',
    'text/event-stream',
    'a/b;;;',
    ',,,',
    'application/json;q=0',
  ],
  'accept-encoding': ['br;q=2', 'gzip', 'identity;q=0', '*;q=0', ',', 'x'.repeat(2000), 'br'],
  'content-encoding': ['gzip', 'br', 'x'],
  'if-none-match': ['*', '"', 'W/', `"${'a'.repeat(5000)}"`, ',,,', '"a", W/"b"'],
  'x-request-id': ['', ' ', 'a b', 'x'.repeat(300), '../'],
  'x-api-key': ['tg_live_', 'garbage', 'x'.repeat(9000), '\u00e9'],
  authorization: [
    'Bearer',
    'Bearer  ',
    'Basic x',
    'Bearer a.b.c',
    `Bearer ${'x'.repeat(9000)}`,
    'Bearer tg_live_x',
    'Digest',
  ],
  range: ['bytes=0-', 'bytes=-1', 'x'],
  origin: ['null', 'http://', 'https://evil.example.com'],
  cookie: ['a=b; '.repeat(100)],
  'x-http-method-override': ['DELETE'],
  'x-forwarded-for': ['1, 2, 3'],
  te: ['trailers'],
};

/** A few headers, most of them bad. */
export function someHeaders(random: Random): Record<string, string> {
  const names = Object.keys(badHeaders);
  const picked = Array.from({ length: random.below(3) }, () => random.pick(names));
  return Object.fromEntries(picked.map((name) => [name, random.pick(badHeaders[name]!)]));
}

export const contentTypes = [
  'application/json',
  'application/json; charset=utf-16',
  'application/merge-patch+json',
  'application/graphql',
  'application/x-www-form-urlencoded',
  'multipart/form-data',
  'multipart/form-data; boundary=x',
  'text/plain',
  'text/csv',
  'x',
  '/',
  '',
];
