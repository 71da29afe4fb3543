import { restNames } from '../../../domain/columns.ts';
import { partColumns } from '../../../domain/gex/gex-columns.ts';
import { exchangeTimeZone } from '../../../domain/market-time.ts';
import { flag, oneOf, pointInTime, positiveInt, sessionDatesOrAll, ticker, timeZone } from '../../contract/params.ts';
import { gexGridResponse } from '../../contract/protobuf.ts';
import { route } from '../../contract/route.ts';

// Contract notes 3. Translates only: the resolver selects the capture and the expiries and computes the totals.
export const gexGrid = route({
  path: '/v2/gex/:symbol/grid',
  summary: 'GEX grid',
  description:
    'Dealer gamma exposure by strike: the latest capture without settled expiries, or a past capture as stored. Totals include all strikes of the requested expiries; top does not change them. dte=0 is the expiry that ends on the day. It is an alternative to a list of expiries: both together are 400. expiries=all is not a list, so dte=0 applies.',
  scopeGroup: 'analytics.gex',
  params: {
    symbol: ticker,
    at: pointInTime.optional(),
    tz: timeZone.optional(),
    expiries: sessionDatesOrAll.optional(),
    dte: oneOf(['0']).optional(),
    top: positiveInt.optional(),
    by_expiry: flag.optional(),
  },
  name: 'gex-grid',
  operation: 'gex/grid.graphql',
  graphql: '{ symbol(symbol: "{symbol}") { gex { grid { netGex } } } }',
  example: { shown: { params: { top: '3' } } },
  hasInstant: 'own at',
  answer: 'symbol.gex.grid',
  variables: ({ tz, dte, by_expiry, ...rest }) => ({
    ...rest,
    tz: tz ?? exchangeTimeZone,
    dte: dte === undefined ? null : Number(dte),
    byExpiry: by_expiry ?? false,
  }),
  absent: [...restNames(partColumns), 'gex_0dte_shares'],
  errors: [400, 403, 502, 503],
  protobuf: gexGridResponse,
});
