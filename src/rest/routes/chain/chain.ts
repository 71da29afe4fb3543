import { chainColumns } from '../../../domain/chain/chain-columns.ts';
import { restNames } from '../../../domain/columns.ts';
import { exchangeTimeZone } from '../../../domain/market-time.ts';
import { pointInTime, sessionDate, thousandths, ticker, timeZone } from '../../contract/params.ts';
import { chainResponse } from '../../contract/protobuf.ts';
import { route } from '../../contract/route.ts';

// Contract notes 3. Translates only: the resolver selects the capture and checks entitlement.
export const chain = route({
  path: '/v2/chain/:symbol',
  summary: 'Option chain',
  description:
    'The latest option chain, or the one stored for a time. Values that the source did not give are absent from the rows. theta is in dollars per day, vega in dollars per vol point. meta.greeks_source is the source of the greeks: the vendor, or the solver if the source gives none. meta.greeks_filled lists those that the vendor lacks, which are computed at its iv.',
  scopeGroup: 'market.live',
  params: {
    symbol: ticker,
    at: pointInTime.optional(),
    tz: timeZone.optional(),
    expiry: sessionDate.optional(),
    strike_gte: thousandths.optional(),
    strike_lte: thousandths.optional(),
  },
  name: 'chain',
  operation: 'chain/chain.graphql',
  graphql: '{ symbol(symbol: "{symbol}") { chain { meta { rowCount } } } }',
  example: { shown: { params: { expiry: '{expiry}', strike_gte: '630000', strike_lte: '640000' } } },
  hasInstant: 'own at',
  answer: 'symbol.chain',
  variables: ({ tz, strike_gte, strike_lte, ...rest }) => ({
    ...rest,
    tz: tz ?? exchangeTimeZone,
    strikeGte: strike_gte,
    strikeLte: strike_lte,
  }),
  absent: restNames(chainColumns),
  errors: [400, 403, 502, 503],
  protobuf: chainResponse,
});
