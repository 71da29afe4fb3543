import {
  type GraphQLInputType,
  getNullableType,
  isEnumType,
  isInputObjectType,
  isListType,
  isScalarType,
} from 'graphql';
import { z } from 'zod';
import { invalidParameter } from '../../platform/wire/failure.ts';
import {
  clockTime,
  contract,
  dollars,
  epochMs,
  flag,
  oneOf,
  type Param,
  param,
  pointInTime,
  positiveInt,
  sessionDate,
  text,
  thousandths,
  ticker,
  timeZone,
  wrong,
} from './params.ts';

/** Maximum number of items of a list, and of characters of a text. */
export const parameterLimits = { items: 250, characters: 4096 } as const;

const largestInt = 2_147_483_647;

const integer = param(
  (sent, name) => {
    const value = Number(sent);
    if (!/^-?\d{1,10}$/.test(sent) || Math.abs(value) > largestInt) throw wrong(name, 'a whole number', sent);
    return value;
  },
  { description: 'A whole number.', type: 'integer' },
);

const long = param(
  (sent, name) => {
    if (!/^-?\d{1,16}$/.test(sent) || !Number.isSafeInteger(Number(sent))) throw wrong(name, 'a whole number', sent);
    return Number(sent);
  },
  { description: 'A whole number.', type: 'integer' },
);

const number = param(
  (sent, name) => {
    if (!/^[+-]?\d{1,15}(\.\d{1,15})?(e[+-]?\d{1,2})?$/i.test(sent)) throw wrong(name, 'a number', sent);
    return Number(sent);
  },
  { description: 'A number.', type: 'number' },
);

/** Readers that a route's settings can name. */
const readers = {
  ticker,
  contract,
  date: sessionDate,
  'point-in-time': pointInTime,
  'time-zone': timeZone,
  'clock-time': clockTime,
  'epoch-ms': epochMs,
  thousandths,
  integer,
  'positive-integer': positiveInt,
  number,
  dollars,
  boolean: flag,
  text: text(parameterLimits.characters),
} satisfies Record<string, Param>;

type ReaderName = keyof typeof readers;

/** Names of the types of parameters. */
export const typeNames = Object.keys(readers) as [ReaderName, ...ReaderName[]];

/** Readers of the graph's types, and texts that they accept. Braces are filled in as in `Example`. */
const readerOf: Readonly<Record<string, ReaderName>> = {
  Ticker: 'ticker',
  OptionContractId: 'contract',
  SessionDate: 'date',
  PointInTime: 'point-in-time',
  CapturePoint: 'point-in-time',
  TimeZone: 'time-zone',
  ClockTime: 'clock-time',
  EpochMs: 'epoch-ms',
  StrikeThousandths: 'thousandths',
  Int: 'integer',
  Float: 'number',
  Boolean: 'boolean',
};

const examples: Readonly<Record<ReaderName, string>> = {
  ticker: '{symbol}',
  contract: '{contract}',
  date: '{previous}',
  'point-in-time': '{previous}',
  'time-zone': 'America/New_York',
  'clock-time': '10:00',
  'epoch-ms': '1763740800000',
  thousandths: '600000',
  integer: '1',
  'positive-integer': '1',
  number: '1',
  dollars: '100000',
  boolean: 'true',
  text: 'text',
};

/** A reader, and a text that it accepts. */
export interface ScalarReader {
  reader: Param;
  example: string;
}

/** The reader of a name. */
export const namedReader = (name: ReaderName): ScalarReader => ({ reader: readers[name], example: examples[name] });

/** The reader of a scalar of the graph; a text that the operation checks if there is none of its own. */
function scalarReader(type: string): ScalarReader {
  if (type === 'Long') return { reader: long, example: '1' };
  if (/Timeframe$/.test(type)) return { reader: readers.text, example: '1m' };
  return namedReader(Object.hasOwn(readerOf, type) ? readerOf[type]! : 'text');
}

/** A comma-separated list of 1 to 250 values. */
export function listReader({ reader, example }: ScalarReader): ScalarReader {
  const { description = '', example: shown } = reader.meta() ?? {};
  const read = (sent: string, name: string) => {
    const parts = sent.split(',');
    if (parts.length > parameterLimits.items)
      throw invalidParameter(name, `at most ${parameterLimits.items} items, got ${parts.length}`);
    return parts.map((part, index) => {
      const found = reader.safeParse(part.trim());
      if (!found.success) throw invalidParameter(name, `item ${index + 1}: ${found.error.issues[0]!.message}`);
      return found.data;
    });
  };
  const about = `Separated by commas, at most ${parameterLimits.items}. Each: ${description}`;
  return {
    reader: param(read, { description: about, ...(typeof shown === 'string' && { example: shown }) }),
    example,
  };
}

/** Any JSON value, which the operation checks. */
const jsonReader: ScalarReader = {
  reader: param(
    (sent, name) => {
      if (sent.length > parameterLimits.characters)
        throw invalidParameter(name, `at most ${parameterLimits.characters} characters`);
      try {
        return JSON.parse(sent) as unknown;
      } catch {
        throw wrong(name, 'JSON', sent);
      }
    },
    { description: `JSON, at most ${parameterLimits.characters} characters.` },
  ),
  example: '{}',
};

/** The reader of the parameter of a variable. */
export function variableReader(type: GraphQLInputType): ScalarReader {
  const nullable = getNullableType(type);
  if (isListType(nullable)) {
    const item = getNullableType(nullable.ofType) as GraphQLInputType;
    return isListType(item) || isInputObjectType(item)
      ? { ...jsonReader, example: '[]' }
      : listReader(variableReader(item));
  }
  if (isEnumType(nullable)) {
    const values = nullable.getValues().map(({ name }) => name);
    return { reader: oneOf(values as [string, ...string[]]), example: values[0]! };
  }
  return isScalarType(nullable) ? scalarReader(nullable.name) : jsonReader;
}

/** The parameter of a variable: its name in snake case. */
export const parameterName = (variable: string): string =>
  variable.replace(/(?!^)[A-Z]/g, (letter) => `_${letter}`).toLowerCase();

/** True if a text fits a reader. */
export const accepts = (reader: Param, sent: string): boolean =>
  (reader instanceof z.ZodOptional ? (reader.unwrap() as Param) : reader).safeParse(sent).success;
