import { otherSector } from '../../analytics/screener/sectors.ts';
import type { SymbolClass, SymbolEntry } from '../../domain/market/symbol.ts';
import { invalidParameter } from '../../wire/failure.ts';
import { type ConnectionPage, connectionPage } from '../connection-page.ts';
import type { RequestContext } from '../context.ts';
import { ofInstant, readCursor } from '../cursor.ts';
import { registeredSymbols } from './registry.ts';

/** Maximum number of symbols per page; a larger number is clamped to it. */
export const maxSymbolsPage = 500;

export interface SymbolsArgs {
  first: number;
  after?: string | null | undefined;
  class?: SymbolClass | null | undefined;
  sector?: string | null | undefined;
  search?: string | null | undefined;
}

/** A page of symbols. */
export type SymbolConnection = ConnectionPage<{ symbol: string }>;

function matcher({ class: symbolClass, sector }: SymbolsArgs, text: string): (entry: SymbolEntry) => boolean {
  const wantedSector = sector?.toLowerCase() ?? null;
  return (entry) =>
    (symbolClass == null || entry.class === symbolClass) &&
    (wantedSector === null || (entry.sector ?? otherSector).toLowerCase() === wantedSector) &&
    (text === '' || entry.symbol.toLowerCase().startsWith(text) || entry.name.toLowerCase().includes(text));
}

/** Rank of a symbol in a search: its own ticker, then tickers that begin with the text, then names that contain it. */
function rankOf(symbol: string, search: string): number {
  const ticker = symbol.toLowerCase();
  return ticker === search ? 0 : ticker.startsWith(search) ? 1 : 2;
}

/** The order of a search for a text: by rank, then by ticker; without a text, by ticker. */
function byRank(text: string): (one: string, other: string) => number {
  return (one, other) => rankOf(one, text) - rankOf(other, text) || (one < other ? -1 : Number(one > other));
}

/** Registered symbols that match, the best match first, then ascending by ticker, `first` at a time. */
export async function symbolConnection(context: RequestContext, args: SymbolsArgs): Promise<SymbolConnection> {
  if (args.first < 1) throw invalidParameter('first', 'expected 1 or more');
  const text = args.search?.trim().toLowerCase() ?? '';
  const order = byRank(text);
  const found = (await registeredSymbols(context)).filter(matcher(args, text));
  // The registry is in the order of its tickers.
  const matching = text === '' ? found : found.sort((one, other) => order(one.symbol, other.symbol));
  // The position is a ticker, so that symbols added in the meantime neither repeat nor hide others.
  const bound = ['symbols', args.class ?? '', args.sector ?? '', args.search ?? '', ...ofInstant(context)];
  const after = args.after == null ? null : readCursor(args.after, bound, 'after');
  const rest = after === null ? matching : matching.filter((entry) => order(entry.symbol, after) > 0);
  const page = rest.slice(0, Math.min(args.first, maxSymbolsPage));
  return connectionPage({
    nodes: page,
    position: ({ symbol }) => symbol,
    bound,
    hasNextPage: rest.length > page.length,
    hasPreviousPage: matching.length > rest.length,
    totalCount: matching.length,
  });
}
