import { z } from 'zod';
import { readTicker } from '../../../core/domain/market/ticker.ts';
import { type Failure, invalidParameter } from '../../../platform/wire/failure.ts';
import { fieldError, jsonBody } from '../../contract/body.ts';
import { opaqueId } from '../../contract/params.ts';
import { route } from '../../contract/route.ts';

// Spec 4.15.
export const watchlists = route({
  path: '/v2/watchlists',
  summary: 'Watchlists',
  description: 'The watchlists of the account, oldest first.',
  scopeGroup: 'watchlists',
  name: 'watchlists',
  operation: 'account/watchlists.graphql',
  graphql: '{ watchlists { rows { id } } }',
  answer: 'watchlists',
  errors: [502],
});

const described = z.object({ name: z.string(), symbols: z.array(z.string()) });
// The operation checks the items, because it reads long lists in chunks.
const shape = z.object(
  {
    name: z.string({ error: fieldError('text') }),
    symbols: z.custom<unknown[]>(Array.isArray, { error: fieldError('an array of tickers') }),
  },
  { error: 'expected an object {name, symbols}' },
);

/** The 400 of the first item that is not a ticker; null if all are. */
function invalidSymbol(symbols: readonly unknown[]): Failure | null {
  const index = symbols.findIndex((symbol) => typeof symbol !== 'string' || readTicker(symbol) === null);
  if (index === -1) return null;
  const symbol = symbols[index];
  const problem =
    typeof symbol === 'string'
      ? `expected a ticker such as SPY or BRK.B, got ${JSON.stringify(symbol.slice(0, 40))}`
      : 'expected a ticker such as SPY';
  return invalidParameter('symbols', `item ${index + 1}: ${problem}`);
}

// Spec 4.16. The id in the path counts; one in the body is ignored like any unknown field.
export const putWatchlist = route({
  method: 'PUT',
  path: '/v2/watchlists/:id',
  summary: 'Create or replace a watchlist',
  description: 'Creates or replaces a watchlist. Symbols are stored uppercase, in the order they were sent.',
  scopeGroup: 'watchlists',
  symbolRule: 'writable',
  params: { id: opaqueId },
  body: jsonBody(shape, { name: 'WatchlistInput', example: { name: 'Mine', symbols: ['SPY'] } }, { described }),
  name: 'put-watchlist',
  operation: 'account/put-watchlist.graphql',
  graphql: 'mutation { putWatchlist(id: "funds", name: "Index funds", symbols: ["{symbol}"]) { watchlist { id } } }',
  example: {
    params: { id: 'funds' },
    body: '{"name":"Index funds","symbols":["{symbol}"]}',
    shown: { body: '{"name":"Index funds","symbols":["SPY","QQQ"]}' },
  },
  answer: 'putWatchlist',
  variables: {
    name: (_values, body) => (body as z.output<typeof shape>).name,
    symbols: (_values, body) => (body as z.output<typeof shape>).symbols,
  },
  invalidVariables: ({ symbols }) => invalidSymbol(symbols as unknown[]),
  errors: [400, 413, 415, 502],
});

// Contract notes 2.
export const deleteWatchlist = route({
  method: 'DELETE',
  path: '/v2/watchlists/:id',
  summary: 'Delete a watchlist',
  description: 'Deletes a watchlist. 404 if the id is unknown.',
  scopeGroup: 'watchlists',
  params: { id: opaqueId },
  name: 'delete-watchlist',
  operation: 'account/delete-watchlist.graphql',
  graphql: 'mutation { deleteWatchlist(id: "{watchlist}") { deleted } }',
  example: { params: { id: '{watchlist}' } },
  answer: 'deleteWatchlist',
  errors: [404, 502],
});
