import { GraphQLError, Kind, print, type ValueNode } from 'graphql';
import { contractId, parseOptionContract } from '../core/domain/chain/option-contract.ts';
import { timeframes } from '../core/domain/market/bar.ts';
import { parseTicker } from '../core/domain/market/ticker.ts';
import {
  isTimeZone,
  parseClockTime,
  parseDate,
  parseRequestedInstant,
  rejectSeconds,
} from '../core/domain/market-time.ts';
import { invalidParameter, knownFailure } from '../platform/wire/failure.ts';
import { numberText, shownValue } from '../platform/wire/printed-value.ts';
import { builder } from './builder.ts';
import { capturePoint } from './gex/capture.ts';

/** Converts the 400 of a domain parser to the GraphQL error of an invalid input, with the same code and message. */
function reading<T>(read: () => T): T {
  try {
    return read();
  } catch (error) {
    const failure = knownFailure(error);
    if (!failure) throw error;
    throw new GraphQLError(failure.message, { originalError: failure, extensions: { code: failure.code } });
  }
}

function literalText(node: ValueNode): string {
  if (node.kind === Kind.STRING || node.kind === Kind.INT) return node.value;
  throw new GraphQLError('Expected a string.', { extensions: { code: 'invalid_params' } });
}

type TextScalarName =
  | 'SessionDate'
  | 'Ticker'
  | 'OptionContractId'
  | 'Instrument'
  | 'PointInTime'
  | 'CapturePoint'
  | 'TimeZone'
  | 'ClockTime'
  | 'Timeframe'
  | 'OptionTimeframe';

/**
 * Form of a scalar: its description, the public specification of its form, and its type in TypeScript for code
 * generators.
 */
interface ScalarForm {
  description: string;
  specifiedByURL: string;
  type: string;
}

const form = ({ description, specifiedByURL, type }: ScalarForm) => ({
  description,
  specifiedByURL,
  extensions: { codegenScalarType: type },
});

/** A scalar written as text; `parse` returns the normalized value or throws its error. */
function textScalar(name: TextScalarName, described: Omit<ScalarForm, 'type'>, parse: (text: string) => string): void {
  builder.scalarType(name, {
    ...form({ ...described, type: 'string' }),
    serialize: (value) => value as never,
    parseValue: (value) =>
      reading(() =>
        parse(typeof value === 'number' ? numberText(value) : typeof value === 'string' ? value : ''),
      ) as never,
    parseLiteral: (node) => reading(() => parse(literalText(node))) as never,
  });
}

function noInteger(name: string, sent: string): GraphQLError {
  return new GraphQLError(`${name} must be an integer within 53 bits, got ${sent.slice(0, 40)}.`, {
    extensions: { code: 'invalid_params' },
  });
}

function checkedInteger(name: string, value: unknown): number {
  // A JSON object may have its own `toString`, which `String` would call.
  if (typeof value !== 'number' || !Number.isSafeInteger(value)) throw noInteger(name, shownValue(value));
  return value;
}

function writtenInteger(name: string, node: ValueNode): number {
  if (node.kind !== Kind.INT) throw noInteger(name, print(node));
  return checkedInteger(name, Number(node.value));
}

/**
 * A scalar that is an integer of at most 53 bits; larger ones are rejected, never rounded. `check` throws the error of
 * an input.
 */
function integerScalar(
  name: 'EpochMs' | 'Long' | 'StrikeThousandths',
  described: Omit<ScalarForm, 'type'>,
  check: (value: number) => void = () => {},
): void {
  const checked = (value: number) => {
    reading(() => check(value));
    return value;
  };
  builder.scalarType(name, {
    ...form({ ...described, type: 'number' }),
    serialize: (value) => checkedInteger(name, value),
    parseValue: (value) => checked(checkedInteger(name, value)),
    parseLiteral: (node) => checked(writtenInteger(name, node)),
  });
}

integerScalar(
  'EpochMs',
  {
    description: 'A point in time: milliseconds since 1970-01-01T00:00:00Z.',
    specifiedByURL: 'https://tc39.es/ecma262/#sec-time-values-and-time-range',
  },
  (ms) => rejectSeconds(ms, 'time'),
);
integerScalar('Long', {
  description: 'An integer of up to 53 bits, such as a volume in shares or contracts.',
  specifiedByURL: 'https://www.rfc-editor.org/rfc/rfc7493#section-2.2',
});
integerScalar('StrikeThousandths', {
  description: 'A strike in thousandths of a dollar, an integer: 600 dollars is 600000.',
  specifiedByURL: 'https://en.wikipedia.org/wiki/Option_symbol',
});
textScalar(
  'SessionDate',
  {
    description: 'A date, YYYY-MM-DD. A session is the date of the exchange in New York.',
    specifiedByURL: 'https://www.rfc-editor.org/rfc/rfc3339#section-5.6',
  },
  (text) => parseDate(text, 'date'),
);
textScalar(
  'Ticker',
  {
    description:
      'A ticker such as SPY or BRK.B. Any case is accepted, as are BRK-B, BRK/B and BRK B; answers are uppercase, with a point.',
    specifiedByURL: 'https://www.nasdaqtrader.com/trader.aspx?id=CQSsymbolconvention',
  },
  (text) => parseTicker(text),
);
textScalar(
  'OptionContractId',
  {
    description: 'An option contract: O: and its OSI symbol, such as O:SPY241220C00600000.',
    specifiedByURL: 'https://en.wikipedia.org/wiki/Option_symbol',
  },
  (text) => contractId(parseOptionContract(text)),
);
textScalar(
  'Instrument',
  {
    description: 'A ticker such as SPY, or the id of an option contract such as O:SPY241220C00600000, in any case.',
    specifiedByURL: 'https://en.wikipedia.org/wiki/Option_symbol',
  },
  (text) => (/^o:/i.test(text) ? contractId(parseOptionContract(text)) : parseTicker(text)),
);
textScalar(
  'PointInTime',
  {
    description:
      'Epoch milliseconds, YYYY-MM-DD, or YYYY-MM-DDTHH:MM[:SS] in the time zone of the field. A trailing Z or offset overrides the time zone.',
    specifiedByURL: 'https://html.spec.whatwg.org/multipage/common-microsyntaxes.html#dates-and-times',
  },
  (text) => {
    parseRequestedInstant(text, 'UTC', 'time');
    return text;
  },
);
textScalar(
  'CapturePoint',
  {
    description:
      'A GEX capture: the id of one, or a PointInTime, which means the last capture at or before it. A bare date means the last capture of that session.',
    specifiedByURL: 'https://html.spec.whatwg.org/multipage/common-microsyntaxes.html#dates-and-times',
  },
  (text) => {
    if ('time' in capturePoint(text)) parseRequestedInstant(text, 'UTC', 'time');
    return text;
  },
);
textScalar(
  'TimeZone',
  { description: 'An IANA time zone, such as America/New_York.', specifiedByURL: 'https://www.iana.org/time-zones' },
  (text) => {
    if (!isTimeZone(text))
      throw invalidParameter(
        'tz',
        `expected an IANA time zone such as America/New_York, got ${JSON.stringify(text.slice(0, 40))}`,
      );
    return text;
  },
);
textScalar(
  'ClockTime',
  {
    description: 'A time of the New York day, HH:MM.',
    specifiedByURL: 'https://html.spec.whatwg.org/multipage/common-microsyntaxes.html#times',
  },
  (text) => {
    parseClockTime(text, 'time');
    return text;
  },
);
textScalar(
  'Timeframe',
  {
    description: `The length of a stock bar: ${timeframes.join(', ')}.`,
    specifiedByURL: 'https://prometheus.io/docs/prometheus/latest/querying/basics/#time-durations',
  },
  (text) => {
    if (!(timeframes as readonly string[]).includes(text))
      throw invalidParameter('timeframe', `expected one of ${timeframes.join(', ')}`);
    return text;
  },
);
textScalar(
  'OptionTimeframe',
  {
    description: 'The length of an option bar: 1m or 5m.',
    specifiedByURL: 'https://prometheus.io/docs/prometheus/latest/querying/basics/#time-durations',
  },
  (text) => {
    if (text !== '1m' && text !== '5m') throw invalidParameter('tf', 'expected 1m or 5m');
    return text;
  },
);

builder.scalarType('CountsByName', {
  ...form({
    description: 'Counts by name: an object of integers of up to 53 bits.',
    specifiedByURL: 'https://www.rfc-editor.org/rfc/rfc8259#section-4',
    type: 'Record<string, number>',
  }),
  serialize: (counts) => counts,
});

/** UTF-8 bytes received over REST, or a text of the graph. */
function importBody(value: unknown): Uint8Array {
  if (value instanceof Uint8Array) return value;
  if (typeof value !== 'string' || !value.isWellFormed()) throw invalidParameter('body', 'expected text in UTF-8');
  return new TextEncoder().encode(value);
}
builder.scalarType('ImportBody', {
  ...form({
    description: 'Text of an import: at most 10 MiB and 100,000 lines.',
    specifiedByURL: 'https://www.rfc-editor.org/rfc/rfc4180',
    type: 'string',
  }),
  serialize: () => {
    throw new TypeError('an import is never served');
  },
  parseValue: (value) => reading(() => importBody(value)),
  parseLiteral: (node) => reading(() => importBody(literalText(node))),
});
