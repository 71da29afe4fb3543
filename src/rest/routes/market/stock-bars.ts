import { timeframes } from '../../../domain/bar.ts';
import { exchangeTimeZone } from '../../../domain/market-time.ts';
import { knownTicker, oneOf, pointInTime, positiveInt, text, timeZone, windowEnd } from '../../contract/params.ts';
import { barsResponse } from '../../contract/protobuf.ts';
import { route } from '../../contract/route.ts';

// Spec 4.7. Translates only: clamps, entitlement and the in-flight limit are the resolver's.
export const stockBars = route({
  path: '/v2/stocks/:symbol/bars',
  summary: 'Stock bars',
  description: 'OHLCV bars in [from, to), ascending. Repeat with meta.cursor until it is absent.',
  scopeGroup: 'market.bars',
  params: {
    symbol: knownTicker,
    from: pointInTime,
    to: windowEnd,
    tz: timeZone.optional(),
    timeframe: oneOf(timeframes).optional(),
    tf: oneOf(timeframes).optional(),
    limit: positiveInt.optional(),
    cursor: text(512).optional(),
    source: text(40).optional(),
  },
  name: 'stock-bars',
  operation: 'market/stock-bars.graphql',
  answer: 'symbol.bars',
  variables: ({ tz, timeframe, tf, ...rest }) => ({
    ...rest,
    tz: tz ?? exchangeTimeZone,
    timeframe: timeframe ?? tf ?? '1m',
  }),
  listsTokenExpired: true,
  inFlightLimited: true,
  aboutSessions: true,
  errors: [400, 403, 404, 429, 502, 503],
  protobuf: barsResponse,
});
