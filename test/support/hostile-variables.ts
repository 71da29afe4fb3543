import type { SentDocument } from './graph-transports.ts';

/** Takes a list. */
export const quotes = 'query($it: [Ticker!]!) { quotes(symbols: $it) { rows { symbol } } }';
/** Takes an input object. */
export const trade = 'mutation($it: JournalTradeInput!) { createJournalTrade(trade: $it) { trade { id } } }';
/** Texts of a numbered list. */
export const numbered = (count: number, each: (i: number) => string) =>
  Array.from({ length: count }, (_, i) => each(i)).join();
const list = (count: number, item: string) => `[${numbered(count, () => item)}]`;
const object = (count: number, value = '1') => `{${numbered(count, (i) => `"k${i}":${value}`)}}`;

/** Variables of which none fits, or which are more than is read. */
export const hostileVariables: Record<string, SentDocument> = {
  'a list of wrong items': { query: quotes, variables: `{"it":${list(9000, '{}')}}` },
  'a list of long wrong items': { query: quotes, variables: `{"it":${list(9, JSON.stringify('x'.repeat(100_000)))}}` },
  'a list of items that are objects of many keys': { query: quotes, variables: `{"it":[${object(9000)}]}` },
  'an input object of many unknown keys': { query: trade, variables: `{"it":${object(9000)}}` },
  'an input object of long unknown keys': {
    query: trade,
    variables: `{"it":{${numbered(8, (i) => `"${'k'.repeat(100_000)}${i}":1`)}}}`,
  },
  'a list of input objects in place of one': { query: trade, variables: `{"it":${list(9000, '{}')}}` },
  'a number that is a long text': {
    query: 'query($it: Int) { symbols(first: $it) { nodes { symbol } } }',
    variables: `{"it":${JSON.stringify('9'.repeat(900_000))}}`,
  },
  'a number that is an object of many keys': {
    query: 'query($it: Int) { symbols(first: $it) { nodes { symbol } } }',
    variables: `{"it":${object(9000)}}`,
  },
  'many variables that are wrong': {
    query: `query(${numbered(90, (i) => `$k${i}: Int!`)}) { me { tier } ${numbered(90, (i) => `a${i}: symbols(first: $k${i}) { nodes { symbol } }`)} }`,
    variables: object(300, '"x"'),
  },
  'more values than are read': { query: '{ me { tier } }', variables: object(60_000) },
  'a list nested deeper than is read': {
    query: '{ me { tier } }',
    variables: `{"it":${'['.repeat(400_000)}${']'.repeat(400_000)}}`,
  },
};
