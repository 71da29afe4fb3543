import { requireReadable, symbolAccess } from '../../access/entitlement/entitlement.ts';
import { emptyQuote, type Quote } from '../../core/domain/market/quote.ts';
import type { QuoteState } from '../../live/quotes.ts';
import type { Following } from '../../live/topics.ts';
import { findSymbol, type RequestContext, requireSource } from '../context.ts';
import { checkQuoteSymbols } from './quotes.ts';

/**
 * The symbols that the caller may follow; throws the 403 of the first if there is none. An unknown ticker is not
 * restricted.
 */
async function readableSymbols(context: RequestContext, symbols: readonly string[]): Promise<Set<string>> {
  const readable = new Set<string>();
  let denied: (() => void) | null = null;
  for (const symbol of symbols) {
    const entry = await findSymbol(context, symbol);
    if (entry === null || symbolAccess(context.caller, entry).allowed) readable.add(symbol);
    else denied ??= () => requireReadable(context.caller, entry);
  }
  if (readable.size === 0) denied?.();
  return readable;
}

/**
 * Following the quotes of symbols: the current one of each, then its changes. As in a page of quotes, a symbol that may
 * not be read is an empty row; 403 if all of them are, and as soon as one may no longer be read.
 */
export async function quotesFollowing(
  context: RequestContext,
  symbols: readonly string[],
): Promise<Following<QuoteState, Quote>> {
  checkQuoteSymbols(symbols);
  requireSource(context, 'bars');
  const readable = await readableSymbols(context, symbols);
  const hidden = symbols.filter((symbol) => !readable.has(symbol));
  return {
    keys: [...readable],
    resume: null,
    early: hidden.map((symbol) => ({ value: emptyQuote(symbol), cursor: '', slot: symbol })),
    async check(caller) {
      for (const symbol of readable) {
        const entry = await findSymbol(context, symbol);
        requireReadable(caller, entry);
      }
    },
  };
}
