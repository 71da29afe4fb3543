import { addDays } from '../../src/core/domain/market-time.ts';
import type { Random } from '../support/random.ts';

const long = (text: string, times: number) => text.repeat(times);

/** Texts that a parser, an encoder or a query might take wrongly. */
const hostileTexts: readonly string[] = [
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
  '\ud800',
  'a\udfffb',
  '\u2028',
  'SPY\n',
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
  '0001-01-01',
  '0099-06-15',
  '0999-12-31',
  '999-12-31',
  '1001-01-01',
  '1899-12-31',
  '2026-02-29',
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
  '2026-03-08T02:30',
  '10000-01-01',
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
  'p*:*:*',
  '%s%n',
  '$(id)',
  '<script>',
];

/**
 * Tickers of the sample market and of the tests' market, for every kind of entitlement, and one outside the registry.
 */
const tickers = ['SPY', 'AAPL', 'MSFT', 'NVDA', 'SPX', 'XSP', 'QQQ', 'BRK.B', 'spy', 'ZZZ', 'QQQQ'];

const meanings: readonly [RegExp, string][] = [
  [/^(symbols?|underlying|q)$/, 'ticker'],
  [/^contract$/, 'contract'],
  [/^(date|session|expiry|expiries)$/, 'date'],
  [/^(from|to|at)$/, 'time'],
  [/_ms$/, 'epoch'],
  [/^tz$/, 'zone'],
  [/^(limit|top|dte|strike_|min_premium)/, 'number'],
];

/** Kind of value of a parameter, by its name, if its schema says only that it is a text. */
export function meaningOf(parameter: string): string {
  return meanings.find(([pattern]) => pattern.test(parameter))?.[1] ?? 'text';
}

const years = [0, 1, 7, 42, 99, 100, 476, 999, 1000, 1001, 1582, 1883, 1900, 1970, 2004, 2026, 2027, 9999, 10_000];

/** A date anywhere in the calendar or just beside it, padded or not, with a time of day and a zone now and then. */
function edgeDate(random: Random): string {
  const padded = (value: number, width: number) => String(value).padStart(random.once(8) ? 0 : width, '0');
  const month = random.once(12) ? random.pick([0, 13]) : 1 + random.below(12);
  const day = random.once(12) ? random.pick([0, 32]) : 1 + random.below(31);
  const date = `${padded(random.pick(years), 4)}-${padded(month, 2)}-${padded(day, 2)}`;
  if (!random.once(3)) return date;
  const time = random.pick(['00:00', '02:30', '09:30', '23:59:59.999', '24:00', '23:59:60', '9:30', '']);
  return `${date}T${time}${random.pick(['', '', 'Z', '+05:30', '-12:00', '+14:00', '+24:00', 'z'])}`;
}

/**
 * Values that are right, and dates that are nearly, by what they are; `today` is the date that the target's market ends
 * with.
 */
export function plausible(random: Random, what: string, today: string): string {
  const recent = () => addDays(today, -random.below(12));
  const session = () => (random.once(8) ? edgeDate(random) : recent());
  const texts: Record<string, () => string> = {
    ticker: () => random.pick(tickers),
    date: session,
    time: () => random.pick([session(), `${recent()}T10:30`, `${recent()}T14:30:00Z`, String(Date.parse(recent()))]),
    epoch: () => String(Date.parse(recent()) + random.below(86_400_000)),
    clock: () => random.pick(['09:30', '09:35', '16:00', '00:00', '23:59']),
    zone: () => random.pick(['UTC', 'America/New_York', 'Asia/Tokyo', 'Pacific/Apia', 'Australia/Lord_Howe']),
    contract: () =>
      `O:${random.pick(['SPY', 'SPXW', 'NVDA', 'QQQ'])}261218${random.pick(['C', 'P'])}00${500 + random.below(200)}000`,
    number: () => String(random.pick([0, 1, 2, 3, 7, 20, 100, 500, 5000])),
    text: () => random.pick(['mine', 'a b', 'Laptop', 'é✓', `n${random.below(50)}`]),
  };
  return (texts[what] ?? texts.text!)();
}

/** Any text: hostile, or made of pieces of hostile ones. */
export function hostileText(random: Random): string {
  const text = random.pick(hostileTexts);
  return random.once(6) ? text.slice(0, 20) + random.pick(hostileTexts).slice(0, 20) : text;
}

/** Percent-encodings that are not UTF-8, or not percent-encoding. */
const hostileEncodings = [
  '%',
  '%zz',
  '%C3%28',
  '%ED%A0%80',
  '%FF',
  '%00',
  '%2F',
  '%2e%2e',
  '%0d%0a',
  '%u0041',
  '%E2%28',
  '%F4%90%80%80',
];

/** A piece of an address as it is sent, likely to be wrong; sometimes not even percent-encoding. */
export function hostilePiece(random: Random): string {
  return random.once(8) ? random.pick(hostileEncodings) : encodeURIComponent(hostileText(random).toWellFormed());
}

const hostileNumbers = [0, -1, -0, 1.5, 1e308, -1e-320, 2 ** 31, 2 ** 53, 2 ** 53 + 2, 4_294_967_296, -(2 ** 63)];

const fieldNames = [
  'name',
  'symbols',
  'id',
  'account_id',
  'symbol',
  'side',
  'qty',
  'price',
  'ts',
  'note',
  '__proto__',
  'constructor',
  'toString',
  '',
  '💥',
];

/** A value of JSON, of any kind and at most `depth` deep. */
export function hostileJson(random: Random, depth = 3): unknown {
  const kinds: (() => unknown)[] = [
    () => null,
    () => random.once(2),
    () => random.pick(hostileNumbers),
    () => hostileText(random),
    () => random.pick(tickers),
    ...(depth > 0
      ? [
          () => Array.from({ length: random.below(4) }, () => hostileJson(random, depth - 1)),
          () =>
            Object.fromEntries(
              Array.from({ length: random.below(4) }, () => [random.pick(fieldNames), hostileJson(random, depth - 1)]),
            ),
        ]
      : []),
  ];
  return random.pick(kinds)();
}

/** A body that no endpoint asks for: bytes, nesting, blanks, lines. */
export function hostileBody(random: Random): Buffer {
  const bodies: (() => Buffer | string)[] = [
    () => Buffer.from(Array.from({ length: random.below(60) }, () => random.below(256))),
    () => '['.repeat(random.pick([10, 2000, 5000, 60_000])),
    () => `${'{"a":'.repeat(2000)}1${'}'.repeat(2000)}`,
    () => ' '.repeat(random.pick([1, 70_000])),
    () => `\ufeff${JSON.stringify(hostileJson(random))}`,
    () => 'id,account_id,symbol,side,qty,price,ts,note\n"a,b\n,,,\n"x""y",z\r\n',
    () => Array.from({ length: random.below(20) }, () => JSON.stringify(hostileJson(random, 1))).join('\n'),
    () => JSON.stringify(hostileJson(random)),
    () => `{"qty":1e999,"price":-0,"ts":${'9'.repeat(random.pick([20, 400]))},"a":1,"a":2}`,
  ];
  return Buffer.from(random.pick(bodies)());
}
