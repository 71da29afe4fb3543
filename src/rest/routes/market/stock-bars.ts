import { timeframes } from '../../../core/domain/market/bar.ts';
import { cursor, flag, knownTicker, oneOf, positiveInt, windowEnd } from '../../contract/params.ts';
import { barsResponse } from '../../contract/protobuf.ts';
import { route } from '../../contract/route.ts';

// Spec 4.7. Translates only: the resolver applies clamps, entitlement and the in-flight limit.
export const stockBars = route({
  path: '/v2/stocks/:symbol/bars',
  summary: 'Stock bars',
  description:
    'OHLCV bars in [from, to), ascending. Repeat with meta.cursor until it is absent. Prices are as printed; with `adjusted=true` they are divided, and volumes multiplied, by the splits between the bar and now. meta.splits lists the splits in the range.',
  scopeGroup: 'market.bars',
  params: {
    symbol: knownTicker,
    to: windowEnd,
    timeframe: oneOf(timeframes).optional(),
    tf: oneOf(timeframes).optional(),
    limit: positiveInt.optional(),
    cursor: cursor(512, 'MS4xNzk1MTg2ODAwMDAxLnhsSV90Z3V6R0lLaA').optional(),
    source: oneOf(['trade']).optional(),
    adjusted: flag.optional(),
  },
  name: 'stock-bars',
  operation: 'market/stock-bars.graphql',
  graphql:
    '{ symbol(symbol: "{symbol}") { bars(from: "{session}", to: "{next}") { rows { tsMs } meta { rowCount } } } }',
  example: {
    params: { from: '{session}', to: '{next}' },
    shown: { params: { from: '{session}T09:30', to: '{session}T10:00', timeframe: '5m' } },
  },
  answer: 'symbol.bars',
  variables: {
    adjust: ({ adjusted }) => (adjusted ? 'split' : 'raw'),
    timeframe: ({ timeframe, tf }) => timeframe ?? tf ?? '1m',
  },
  listsTokenExpired: true,
  inFlightLimited: true,
  aboutSessions: true,
  errors: [400, 403, 404, 429, 502, 503],
  protobuf: barsResponse,
});
