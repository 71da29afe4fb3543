import { ProtocolError, ProtocolErrorCode } from '@modelcontextprotocol/server';
import { clipped } from '../platform/wire/printed-value.ts';

/** A prompt, as listed to clients. */
interface Prompt {
  name: string;
  title: string;
  description: string;
  arguments: readonly { name: string; description: string; required: boolean }[];
  /** Its text. `call` says how an operation is called in the client's mode. */
  text: (values: Readonly<Record<string, string>>, call: CallText) => string;
}

type CallText = (operation: string, args: Readonly<Record<string, string>>) => string;

const symbol = { name: 'symbol', description: 'A ticker, such as SPY.', required: true };
const optional = (name: string, description: string) => ({ name, description, required: false });

/** Fields of the graph by which a change of dealer gamma is explained. */
const changeQuery = (ticker: string, from: string, to: string) =>
  `{ symbol(symbol: ${JSON.stringify(ticker)}) { gex { diff(from: ${JSON.stringify(from)}, to: ${JSON.stringify(to)}) { netGex { from to moved } flipPoint { from to moved } change { gex spot time volatility openInterest listing residual strikes(top: 5) { strike gex } expiries { expiry gex } } meta { reason } } } } }`;

const contextQuery = (ticker: string) =>
  `{ symbol(symbol: ${JSON.stringify(ticker)}) { flow { largeTrades(limit: 5) { events { update { event { id side premiumUsd context { bars { rows { tsMs open high low close volume } } greeks { tsMs iv delta } } legs { contract { id } } } } } } } } }`;

export const prompts: readonly Prompt[] = [
  {
    name: 'morning_gamma_brief',
    title: 'Morning gamma brief',
    description: 'Dealer gamma, levels, volatility and flow of a symbol before the session.',
    arguments: [symbol],
    text: ({ symbol: ticker = '' }, call) => `Write a brief on ${ticker} for the morning call, half a page.
1. Price and change: ${call('quotes', { symbols: ticker })}.
2. Walls, flip point and net gamma of the last capture: ${call('gex_reference', { symbol: ticker })}.
3. Volatility by maturity: ${call('vol_term', { symbol: ticker })}.
4. Large option trades: ${call('large_trades', { symbol: ticker })}. Without access to option flow, say so and go on.
Say how old each figure is, from meta. Name the levels at which hedging changes its direction, and their distance from the price.`,
  },
  {
    name: 'what_changed',
    title: 'What changed, and why',
    description: 'The change of dealer gamma between two days, split into its causes.',
    arguments: [
      symbol,
      { name: 'from', description: 'A session, such as 2026-11-19.', required: true },
      { name: 'to', description: 'A later session.', required: true },
    ],
    text: ({
      symbol: ticker = '',
      from = '',
      to = '',
    }) => `Explain how the dealer gamma of ${ticker} changed from ${from} to ${to}.
1. Call \`graphql\` with the query: ${changeQuery(ticker, from, to)}
2. Begin with the largest part of change: spot, time, volatility, openInterest or listing. Name the strikes and expiries where it is largest.
3. A large residual means that the two captures have gammas of different origin: say so. If change is null, give meta.reason.`,
  },
  {
    name: 'explain_print',
    title: 'Explain a large trade',
    description: 'A large option trade, and the market around it.',
    arguments: [symbol, optional('which', 'The trade: its time, its contract, or its size. By default the largest.')],
    text: (
      { symbol: ticker = '', which = 'the largest' },
      call,
    ) => `Explain this large option trade in ${ticker}: ${which}.
1. Find it: ${call('large_trades', { symbol: ticker })}.
2. The market at the trade: call \`graphql\` with the query: ${contextQuery(ticker)}
3. The greeks of its contract: ${call('greeks', { contract: 'the id of its contract' })}.
Say what was traded, at bid or ask, whether it may open a position (its size against open interest), and what the price did afterwards. Keep what is known apart from what you infer.`,
  },
  {
    name: 'screen_for',
    title: 'Screen for symbols',
    description: 'Symbols whose figures meet a condition in words.',
    arguments: [{ name: 'criteria', description: 'Such as: falling, above their flip point.', required: true }],
    text: ({ criteria = '' }) => `Find symbols that are: ${criteria}.
1. Call \`estimate\`, then \`graphql\`, with a query of this form, and the conditions in where: { screener(where: { changePct: { lt: 0 }, ivPercentile: { gte: 80 } }, first: 20) { rows { symbol changePct flipDistancePct iv30 ivPercentile } meta { totalCount restricted } } }
2. If a figure does not exist, the error names those that do.
3. Show the symbols in a table with the figures that you used, and how many there are. Name the figures in meta.restricted, which the caller may not read.`,
  },
  {
    name: 'check_my_data',
    title: 'Check my data',
    description: 'Currency and completeness of the data of some symbols, and what the caller may read.',
    arguments: [optional('symbols', 'Tickers, separated by commas. By default SPY.')],
    text: ({ symbols = 'SPY' }, call) => `Check the data of ${symbols}.
1. What the caller may use: ${call('classification', {})} and ${call('account_usage', {})}.
2. Quotes and their times: ${call('quotes', { symbols, provenance: 'true' })}.
3. For each symbol, dealer gamma: ${call('gex_reference', { symbol: 'the ticker', provenance: 'true' })}.
List for each symbol how old the figures are, the files or live lines that they are from (meta.provenance), what meta.notes says, and what is missing. Do not guess why.`,
  },
];

/** Maximum number of characters of an argument. */
const mostCharacters = 300;

const invalid = (message: string) => new ProtocolError(ProtocolErrorCode.InvalidParams, message);

/** Calls of an operation, if each is a tool, and if the tool `run` runs them. */
const callTexts: Readonly<Record<'all' | 'small', CallText>> = {
  all: (operation, args) => `call \`${operation}\` with ${JSON.stringify(args)}`,
  small: (operation, args) => `call \`run\` with ${JSON.stringify({ operation, arguments: args })}`,
};

/** Prompts as they are listed. */
export const listedPrompts = prompts.map(({ text: _, ...prompt }) => prompt);

/** Maximum number of values that a completion suggests: the protocol's. */
const mostValues = 100;

/** Tickers that complete the last one of an argument; none for an argument that is no ticker. */
export function completionOf(argument: { name: string; value: string }, symbols: Iterable<{ symbol: string }>) {
  const isTicker = argument.name === 'symbol' || argument.name === 'symbols';
  const [, before = '', begun = ''] = /^(.*,\s*)?(.*)$/s.exec(argument.value.slice(0, mostCharacters)) ?? [];
  const found: string[] = [];
  for (const { symbol: ticker } of isTicker ? symbols : [])
    if (ticker.startsWith(begun.toUpperCase())) found.push(before + ticker);
  return {
    completion: { values: found.slice(0, mostValues), total: found.length, hasMore: found.length > mostValues },
  };
}

/** A prompt with its arguments. An unknown prompt, and a missing, unknown or long argument, are named. */
export function promptText(name: string, sent: Readonly<Record<string, string>>, mode: keyof typeof callTexts) {
  const prompt = prompts.find((each) => each.name === name);
  if (!prompt) throw invalid(`Unknown prompt ${clipped(name, 100)}.`);
  for (const argument of prompt.arguments)
    if (argument.required && !sent[argument.name]?.trim()) throw invalid(`${argument.name}: is required`);
  for (const [key, value] of Object.entries(sent)) {
    if (!prompt.arguments.some((argument) => argument.name === key))
      throw invalid(`${clipped(key, 100)}: is no argument of this prompt`);
    if (value.length > mostCharacters) throw invalid(`${key}: expected at most ${mostCharacters} characters`);
  }
  const given = Object.fromEntries(Object.entries(sent).filter(([, value]) => value.trim() !== ''));
  const text = prompt.text(given, callTexts[mode]);
  return {
    description: prompt.description,
    messages: [{ role: 'user' as const, content: { type: 'text' as const, text } }],
  };
}
