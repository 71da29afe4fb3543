import { otherSector } from '../../core/analytics/screener/sectors.ts';
import { type SymbolClass, type SymbolEntry, searchRank } from '../../core/domain/market/symbol.ts';
import { invalidParameter } from '../../platform/wire/failure.ts';
import type { RequestContext } from '../context.ts';
import { type ConnectionPage, connectionPage, ofInstant, readCursor } from '../cursor.ts';
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

function matcher({ class: symbolClass, sector }: SymbolsArgs): (entry: SymbolEntry) => boolean {
  const wantedSector = sector?.toLowerCase() ?? null;
  return (entry) =>
    (symbolClass == null || entry.class === symbolClass) &&
    (wantedSector === null || (entry.sector ?? otherSector).toLowerCase() === wantedSector);
}

/** A symbol that was found, and its place in the list: its rank in the search, then its ticker. */
interface Found {
  symbol: string;
  place: string;
}

/** Registered symbols that match, the best match first, then ascending by ticker, `first` at a time. */
export async function symbolConnection(context: RequestContext, args: SymbolsArgs): Promise<SymbolConnection> {
  if (args.first < 1) throw invalidParameter('first', 'expected 1 or more');
  const text = args.search?.trim().toLowerCase() ?? '';
  const registered = (await registeredSymbols(context)).filter(matcher(args));
  // A place is made of the symbol itself, so that symbols added in the meantime neither repeat nor hide others.
  const placed = registered.flatMap((entry): Found[] => {
    const rank = text === '' ? '' : searchRank(entry, text);
    return rank === null ? [] : [{ symbol: entry.symbol, place: `${rank} ${entry.symbol}` }];
  });
  // The registry is in the order of its tickers.
  if (text !== '') placed.sort((one, other) => (one.place < other.place ? -1 : 1));
  const bound = ['symbols', args.class ?? '', args.sector ?? '', args.search ?? '', ...ofInstant(context)];
  const after = args.after == null ? null : readCursor(args.after, bound, 'after');
  const rest = after === null ? placed : placed.filter(({ place }) => place > after);
  const page = rest.slice(0, Math.min(args.first, maxSymbolsPage));
  return connectionPage({
    nodes: page,
    position: ({ place }) => place,
    bound,
    hasNextPage: rest.length > page.length,
    hasPreviousPage: placed.length > rest.length,
    totalCount: placed.length,
  });
}
