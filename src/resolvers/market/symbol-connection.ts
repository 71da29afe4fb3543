import { otherSector } from '../../analytics/screener/sectors.ts';
import { invalidParameter } from '../../domain/failure.ts';
import type { SymbolClass, SymbolEntry } from '../../domain/symbol.ts';
import type { RequestContext } from '../context.ts';
import { readCursor, writeCursor } from '../cursor.ts';
import { registeredSymbols } from './registry.ts';

/** Most symbols a page of the connection holds; more are clamped to it. */
export const maxSymbolsPage = 500;

export interface SymbolsArgs {
  first: number;
  after?: string | null | undefined;
  class?: SymbolClass | null | undefined;
  sector?: string | null | undefined;
  search?: string | null | undefined;
}

/** A page of the registry, as a connection. */
export interface SymbolConnection {
  edges: { cursor: string; node: { symbol: string } }[];
  pageInfo: { hasNextPage: boolean; hasPreviousPage: boolean; startCursor: string | null; endCursor: string | null };
  /** Symbols over all pages. */
  totalCount: number;
}

function matcher({ class: symbolClass, sector, search }: SymbolsArgs): (entry: SymbolEntry) => boolean {
  const wantedSector = sector?.toLowerCase() ?? null;
  const text = search?.trim().toLowerCase() ?? '';
  return (entry) =>
    (symbolClass == null || entry.class === symbolClass) &&
    (wantedSector === null || (entry.sector ?? otherSector).toLowerCase() === wantedSector) &&
    (text === '' || entry.symbol.toLowerCase().startsWith(text) || entry.name.toLowerCase().includes(text));
}

/** Registered symbols that match, ascending by ticker, `first` at a time. */
export async function symbolConnection(context: RequestContext, args: SymbolsArgs): Promise<SymbolConnection> {
  if (args.first < 1) throw invalidParameter('first', 'expected 1 or more');
  const matching = (await registeredSymbols(context)).filter(matcher(args));
  // The position is a ticker, so that symbols entering the registry in the meantime neither repeat nor hide others.
  const bound = ['symbols', args.class ?? '', args.sector ?? '', args.search ?? ''];
  const after = args.after == null ? null : readCursor(args.after, bound, 'after');
  const rest = after === null ? matching : matching.filter((entry) => entry.symbol > after);
  const page = rest.slice(0, Math.min(args.first, maxSymbolsPage));
  const edges = page.map(({ symbol }) => ({ cursor: writeCursor(symbol, bound), node: { symbol } }));
  return {
    edges,
    pageInfo: {
      hasNextPage: rest.length > page.length,
      hasPreviousPage: matching.length > rest.length,
      startCursor: edges[0]?.cursor ?? null,
      endCursor: edges.at(-1)?.cursor ?? null,
    },
    totalCount: matching.length,
  };
}
