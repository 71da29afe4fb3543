import { z } from 'zod';
import { contractId, parseOptionContract } from '../../core/domain/chain/option-contract.ts';
import { parseTicker, readTicker } from '../../core/domain/market/ticker.ts';
import {
  isTimeZone,
  parseClockTime,
  parseDate,
  parseRequestedInstant,
  rejectSeconds,
} from '../../core/domain/market-time.ts';
import { type Failure, invalidParameter, knownFailure, notFound } from '../../platform/wire/failure.ts';
import { requireStorable } from '../../platform/wire/sent-text.ts';

/**
 * Parameters of the REST contract. Each reads the text that was sent and returns the variable of the stored operation.
 * Its `meta` is for OpenAPI.
 */
export type Param = z.ZodType<unknown, string | undefined>;
export type Params = Record<string, Param>;

/** A parameter read by `read`, which throws a 400 that names it. `readParams` inserts the parameter's name. */
export function param<T>(
  read: (text: string, name: string) => T,
  meta: {
    description: string;
    example?: string;
    pattern?: string;
    format?: string;
    type?: string;
    enum?: readonly string[];
  },
) {
  return z
    .string()
    .transform((text, issues): T => {
      try {
        return read(text, placeholder);
      } catch (error) {
        // Only a 400 concerns the parameter and gets its name.
        const failure = knownFailure(error);
        if (failure?.status !== 400) throw error;
        issues.addIssue({ code: 'custom', message: failure.message.replace(`${placeholder}: `, '') });
        return z.NEVER;
      }
    })
    .meta(meta);
}
const placeholder = '\u0000';

/** The 400 of a parameter's text that is not what was expected. */
export function wrong(name: string, expected: string, text: string): Failure {
  return invalidParameter(name, `expected ${expected}, got ${JSON.stringify(text.slice(0, 40))}`);
}

const anySpelling = 'Ticker, in any case; BRK-B, BRK/B and BRK B are BRK.B.';

/** A ticker of any case and spelling. */
export const ticker = param((text, name) => parseTicker(text, name), {
  description: anySpelling,
  example: 'SPY',
});

/** A symbol for routes without a 400 for it: a malformed ticker is not found, like any unknown one. */
export const knownTicker = param(
  (text) => {
    const found = readTicker(text);
    if (found === null) throw notFound(`Symbol ${text.slice(0, 40)}`);
    return found;
  },
  { description: anySpelling, example: 'SPY' },
);

/** A comma-separated list of 1 to `max` tickers: each as sent, in upper case, with its canonical ticker. */
export const tickers = (max: number) =>
  param(
    (text, name) => {
      const list = text.split(',').map((part) => {
        const asked = part.trim();
        return { symbol: parseTicker(asked, name), asked: asked.toUpperCase() };
      });
      if (list.length > max) throw invalidParameter(name, `at most ${max} symbols, got ${list.length}`);
      return list;
    },
    { description: `Separated by commas, at most ${max}.`, example: 'SPY,QQQ,AAPL' },
  );

/** An option contract, `O:` and its OSI symbol. */
export const contract = param((text, name) => contractId(parseOptionContract(text, name)), {
  description: 'Option contract: O: and its OSI symbol.',
  example: 'O:SPY241220C00600000',
});

/** A comma-separated list of 1 to `max` option contracts. */
export const contracts = (max: number) =>
  param(
    (text, name) => {
      const list = text.split(',').map((part) => contractId(parseOptionContract(part.trim(), name)));
      if (list.length > max) throw invalidParameter(name, `at most ${max} contracts, got ${list.length}`);
      return list;
    },
    { description: `Separated by commas, at most ${max}.`, example: 'O:SPY241220C00600000,O:SPY241220P00600000' },
  );

/** A date `YYYY-MM-DD`. */
export const sessionDate = param((text, name) => parseDate(text, name), {
  description: 'A date, YYYY-MM-DD.',
  format: 'date',
  example: '2026-11-20',
});

/** Dates `YYYY-MM-DD` separated by commas. */
const parseDates = (text: string, name: string) => text.split(',').map((part) => parseDate(part.trim(), name));

/** A comma-separated list of dates `YYYY-MM-DD`, or `all`, which is null. */
export const sessionDatesOrAll = param((text, name) => (text === 'all' ? null : parseDates(text, name)), {
  description: 'Dates (YYYY-MM-DD) separated by commas, or all (default).',
  example: '2026-11-20,2026-12-18',
});

/** Names of expiry sets that a caller sends as they are. */
const namedSets = ['all', 'zero_dte', 'monthly'] as const;
const expiryForms = `${namedSets.join(', ')}, a number of days such as 30d, or dates (YYYY-MM-DD) separated by commas`;

/** A set of expiries: a name, those within a number of days, or dates. */
export const expirySet = param(
  (text, name) => {
    const set = namedSets.find((each) => each === text);
    if (set !== undefined) return { expiries: set };
    const days = /^(\d{1,5})d$/.exec(text)?.[1];
    if (days !== undefined) return { expiries: 'within_days' as const, withinDays: Number(days) };
    if (!/^\d{4}-/.test(text)) throw wrong(name, expiryForms, text);
    return { expiries: 'list' as const, dates: parseDates(text, name) };
  },
  { description: `One of ${expiryForms}.`, example: '30d' },
);

/** A point in time; the operation parses it in `tz`. */
export const pointInTime = param(
  (sent, name) => {
    // A plus in an offset that was not percent-encoded arrives as a space.
    const text = sent.replace(/ (?=\d\d:?\d\d$)/, '+');
    parseRequestedInstant(text, 'UTC', name);
    return text;
  },
  { description: 'Epoch ms, YYYY-MM-DD, or YYYY-MM-DDTHH:MM[:SS] in the time zone tz.', example: '2026-11-20' },
);

/** The instant of knowledge of an answer. */
export const known = pointInTime.meta({
  ...pointInTime.meta(),
  description: 'In the forms of `at`.',
});

/** The end of a window that begins at a `pointInTime`. */
export const windowEnd = pointInTime.meta({ ...pointInTime.meta(), example: '2026-11-21' });

/** An IANA time zone. */
export const timeZone = param(
  (text, name) => {
    if (!isTimeZone(text)) throw wrong(name, 'an IANA time zone such as America/New_York', text);
    return text;
  },
  { description: 'IANA time zone of times without an offset. Default: America/New_York.', example: 'America/New_York' },
);

/** A time of the New York day. */
export const clockTime = param(
  (text, name) => {
    parseClockTime(text, name);
    return text;
  },
  { description: 'Time of the New York day, HH:MM.', example: '09:30' },
);

/** The end of a window of the New York day. */
export const clockTimeEnd = clockTime.meta({ ...clockTime.meta(), example: '16:00' });

/** `true`, `false`, `1` or `0`. */
export const flag = param(
  (text, name) => {
    if (text === 'true' || text === '1') return true;
    if (text === 'false' || text === '0') return false;
    throw wrong(name, 'true or false', text);
  },
  { description: 'true or false.', type: 'boolean' },
);

/** A whole number of at least 1, within int32. */
export const positiveInt = param(
  (text, name) => {
    const value = Number(text);
    if (!/^\d+$/.test(text) || value < 1) throw wrong(name, 'a whole number of 1 or more', text);
    return Math.min(value, 2_147_483_647);
  },
  { description: 'A whole number of 1 or more.', type: 'integer' },
);

/** Epoch milliseconds; a number beyond 53 bits is read as the largest that the graph's EpochMs has. */
export const epochMs = param(
  (text, name) => {
    if (!/^-?\d+$/.test(text)) throw wrong(name, 'epoch milliseconds', text);
    rejectSeconds(Number(text), name);
    return Math.max(Number.MIN_SAFE_INTEGER, Math.min(Number(text), Number.MAX_SAFE_INTEGER));
  },
  { description: 'Epoch ms.', type: 'integer' },
);

/** Integer thousandths of a dollar. */
export const thousandths = param(
  (text, name) => {
    if (!/^\d{1,12}$/.test(text)) throw wrong(name, 'thousandths of a dollar', text);
    return Number(text);
  },
  { description: 'Thousandths of a dollar.', type: 'integer' },
);

/** A dollar amount of 0 or more. */
export const dollars = param(
  (text, name) => {
    if (!/^\d{1,15}(\.\d{1,10})?$/.test(text)) throw wrong(name, 'a dollar amount of 0 or more', text);
    return Number(text);
  },
  { description: 'Dollars.', type: 'number', example: '100000' },
);

/** A dollar amount of either sign. */
export const signedDollars = param(
  (text, name) => {
    if (!/^[+-]?\d{1,15}(\.\d{1,10})?$/.test(text.trim())) throw wrong(name, 'a dollar amount', text);
    return Number(text);
  },
  { description: 'Dollars, of either sign.', type: 'number', example: '35.5' },
);

/** Seconds of the past per second; the operation checks its bounds. */
export const speed = param(
  (text, name) => {
    if (!/^\d{1,9}(\.\d{1,9})?$/.test(text)) throw wrong(name, 'a number', text);
    return Number(text);
  },
  { description: 'Seconds of the past per second, from 0.1 to 3600. Default: 1.', type: 'number', example: '60' },
);

/** One of `values`, exactly as written. */
export const oneOf = <const V extends readonly string[]>(values: V) =>
  param(
    (text, name) => {
      if (!values.includes(text)) throw wrong(name, `one of ${values.join(', ')}`, text);
      return text as V[number];
    },
    { description: `One of ${values.join(', ')}.`, enum: values },
  );

/** Names of the formats of answers that also come as a text. */
export const formatNames = ['json', 'csv', 'text'] as const;

/** The format of an answer, for clients that cannot send Accept. */
export const answerFormat = oneOf(formatNames).meta({
  ...oneOf(formatNames).meta(),
  description: `One of ${formatNames.join(', ')}. Default: by the header Accept.`,
});

/** The list that the formats of rows contain; the first by default. */
export const tableName = (names: readonly string[]) =>
  param(
    (text, name) => {
      if (!names.includes(text)) throw wrong(name, `one of ${names.join(', ')}`, text);
      return text;
    },
    {
      description: `The list returned as CSV, Arrow, Parquet or NDJSON. Default: ${names[0]}. Other formats contain all lists.`,
      enum: names,
    },
  ).optional();

/** Any non-empty text of at most `max` characters. */
export const text = (max: number) =>
  param(
    (value, name) => {
      if (value.length > max) throw invalidParameter(name, `at most ${max} characters`);
      return value;
    },
    { description: `At most ${max} characters.` },
  );

/**
 * A cursor of at most `max` characters. A cursor is bound to its query: `example` belongs to the examples of the other
 * parameters.
 */
export const cursor = (max: number, example: string) => {
  const { description, ...rest } = text(max).meta()!;
  return text(max).meta({ ...rest, description: `meta.cursor of the previous page. ${description}`, example });
};

/** An object as JSON, of at most `max` characters; the operation checks what is in it. */
export const jsonObject = (max: number, example: string) =>
  param(
    (sent, name) => {
      if (sent.length > max) throw invalidParameter(name, `at most ${max} characters`);
      try {
        const value: unknown = JSON.parse(sent);
        if (typeof value === 'object' && value !== null && !Array.isArray(value)) return value;
      } catch {}
      throw wrong(name, 'an object as JSON', sent);
    },
    { description: `An object as JSON, at most ${max} characters.`, example },
  );

/** An id chosen by its owner; the operation checks whether it exists. */
export const opaqueId = param((value) => value, { description: 'An id.', example: 'example-1' });

/** The values of a route's parameters by name. */
export type ParamValues<P extends Params> = { [K in keyof P]: z.output<P[K]> };

/**
 * Reads a request's parameters. Throws 400 for a repeated, missing, empty or malformed one, by name; unknown ones are
 * ignored.
 */
export function readParams<P extends Params>(params: P, sent: Record<string, unknown>): ParamValues<P> {
  const values: Record<string, unknown> = {};
  for (const [name, schema] of Object.entries(params)) {
    const given = Object.hasOwn(sent, name) ? sent[name] : undefined;
    if (given !== undefined && typeof given !== 'string')
      throw invalidParameter(name, 'expected a single value; it was sent more than once');
    const optional = schema instanceof z.ZodOptional;
    if (!given && !optional)
      throw invalidParameter(name, given === '' ? 'a value is required; it was empty' : 'is required');
    if (!given) continue;
    const read = schema.safeParse(given);
    if (!read.success) throw invalidParameter(name, read.error.issues[0]!.message);
    requireStorable(given, name);
    values[name] = read.data;
  }
  return values as ParamValues<P>;
}
