import type { Route } from './contract/route.ts';
import { accountUsage } from './routes/account-usage.ts';
import { apiKeys, createKey, revokeKey } from './routes/api-keys.ts';
import { chain } from './routes/chain.ts';
import { chainExpirations } from './routes/chain-expirations.ts';
import { classification, classify } from './routes/classification.ts';
import { crossSection } from './routes/cross-section.ts';
import { eodPrints } from './routes/eod-prints.ts';
import { gexGrid } from './routes/gex-grid.ts';
import { gexHistory } from './routes/gex-history.ts';
import { gexReference } from './routes/gex-reference.ts';
import { greeks } from './routes/greeks.ts';
import { journalAccountRoutes } from './routes/journal-accounts.ts';
import { journalImport } from './routes/journal-import.ts';
import { journalTradeRoutes } from './routes/journal-trades.ts';
import { largeTrades } from './routes/large-trades.ts';
import { legacyStrikes } from './routes/legacy-strikes.ts';
import { movers } from './routes/movers.ts';
import { offExchangeRoutes } from './routes/off-exchange.ts';
import { optionBars } from './routes/option-bars.ts';
import { quotes } from './routes/quotes.ts';
import { sectors } from './routes/sectors.ts';
import { spot } from './routes/spot.ts';
import { stockBars } from './routes/stock-bars.ts';
import { symbol } from './routes/symbol.ts';
import { symbolLookup } from './routes/symbol-lookup.ts';
import { symbols } from './routes/symbols.ts';
import { volSurface, volTerm } from './routes/vol.ts';
import { deleteWatchlist, putWatchlist, watchlists } from './routes/watchlists.ts';

/** The route table. More specific paths come before those with parameters. */
export const routes: readonly Route[] = [
  symbols,
  symbolLookup,
  symbol,
  quotes,
  spot,
  stockBars,
  sectors,
  movers,
  gexHistory,
  gexGrid,
  gexReference,
  legacyStrikes,
  chainExpirations,
  chain,
  accountUsage,
  classification,
  classify,
  apiKeys,
  createKey,
  revokeKey,
  largeTrades,
  eodPrints,
  crossSection,
  volTerm,
  volSurface,
  greeks,
  optionBars,
  ...offExchangeRoutes,
  watchlists,
  putWatchlist,
  deleteWatchlist,
  journalImport,
  ...journalAccountRoutes,
  ...journalTradeRoutes,
];
