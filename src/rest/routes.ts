// Made by `npm run generate`. Do not edit.
import { schema } from '../schema/index.ts';
import { contractRoutes } from './contract/compiled-route.ts';
import type { Route } from './contract/route.ts';
import { apiKeys, createKey, revokeKey } from './routes/account/api-keys.ts';
import { classification, classify } from './routes/account/classification.ts';
import { streamTicket } from './routes/account/stream-ticket.ts';
import { accountUsage } from './routes/account/usage.ts';
import { deleteWatchlist, putWatchlist, watchlists } from './routes/account/watchlists.ts';
import { chain } from './routes/chain/chain.ts';
import { contractHistory } from './routes/chain/contract-history.ts';
import { contractSnapshots } from './routes/chain/contract-snapshots.ts';
import { chainExpirations } from './routes/chain/expirations.ts';
import { greeks } from './routes/chain/greeks.ts';
import { optionBars } from './routes/chain/option-bars.ts';
import { volSurface, volTerm } from './routes/chain/vol.ts';
import { crossSection } from './routes/flow/cross-section.ts';
import { eodPrints } from './routes/flow/eod-prints.ts';
import { largeTrades } from './routes/flow/large-trades.ts';
import { unusualFlow } from './routes/flow/unusual.ts';
import { gexChange } from './routes/gex/change.ts';
import { gexExposures } from './routes/gex/exposures.ts';
import { gexFigures } from './routes/gex/figures.ts';
import { gexGrid } from './routes/gex/grid.ts';
import { gexHistory } from './routes/gex/history.ts';
import { legacyStrikes } from './routes/gex/legacy-strikes.ts';
import { gexReference } from './routes/gex/reference.ts';
import { journalAccountRoutes } from './routes/journal/accounts.ts';
import { journalImport } from './routes/journal/import.ts';
import { journalTradeRoutes } from './routes/journal/trades.ts';
import { levels } from './routes/levels/levels.ts';
import { movers } from './routes/market/movers.ts';
import { quotes } from './routes/market/quotes.ts';
import { sectors } from './routes/market/sectors.ts';
import { spot } from './routes/market/spot.ts';
import { stockBars } from './routes/market/stock-bars.ts';
import { symbol } from './routes/market/symbol.ts';
import { symbolLookup } from './routes/market/symbol-lookup.ts';
import { symbols } from './routes/market/symbols.ts';
import { offExchangeRoutes } from './routes/offexchange/off-exchange.ts';
import { deleteScreen, putScreen, screenResult, screens } from './routes/screener/saved-screens.ts';
import { screen } from './routes/screener/screen.ts';
import { volFigures } from './routes/volatility/figures.ts';

/** The contract's routes, compiled, by path: more specific paths come before those with parameters. */
export const compiledRoutes = contractRoutes(schema, [
  legacyStrikes,
  classification,
  classify,
  apiKeys,
  createKey,
  revokeKey,
  accountUsage,
  chain,
  chainExpirations,
  eodPrints,
  largeTrades,
  crossSection,
  unusualFlow,
  gexChange,
  gexExposures,
  gexFigures,
  gexGrid,
  gexHistory,
  gexReference,
  journalAccountRoutes[0]!,
  journalAccountRoutes[1]!,
  journalAccountRoutes[2]!,
  journalAccountRoutes[3]!,
  journalAccountRoutes[4]!,
  journalImport,
  journalTradeRoutes[0]!,
  journalTradeRoutes[1]!,
  journalTradeRoutes[2]!,
  journalTradeRoutes[3]!,
  journalTradeRoutes[4]!,
  levels,
  offExchangeRoutes[1]!,
  offExchangeRoutes[2]!,
  offExchangeRoutes[0]!,
  offExchangeRoutes[3]!,
  contractSnapshots,
  optionBars,
  greeks,
  contractHistory,
  volFigures,
  volSurface,
  volTerm,
  quotes,
  movers,
  screen,
  screens,
  putScreen,
  deleteScreen,
  screenResult,
  sectors,
  stockBars,
  streamTicket,
  symbols,
  symbolLookup,
  symbol,
  spot,
  watchlists,
  putWatchlist,
  deleteWatchlist,
]);

/** The rows of the route table. */
export const routes: readonly Route[] = compiledRoutes.map(({ route }) => route);
