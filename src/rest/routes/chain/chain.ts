import { chainColumns } from '../../../core/domain/chain/chain-columns.ts';
import { restNames } from '../../../core/domain/columns.ts';
import { chainResponse } from '../../contract/protobuf.ts';
import { route } from '../../contract/route.ts';

// Contract notes 3. Translates only: the resolver selects the capture and checks entitlement.
export const chain = route({
  path: '/v2/chain/:symbol',
  summary: 'Option chain',
  description:
    'The latest option chain, or the one stored for a time. Values that the source did not give are absent from the rows. theta is in dollars per day, vega in dollars per vol point. meta.greeks_source is the source of the greeks: the vendor, or the solver if the source gives none. meta.greeks_filled lists those that the vendor lacks, which are computed at its iv.',
  scopeGroup: 'market.live',
  name: 'chain',
  operation: 'chain/chain.graphql',
  graphql: '{ symbol(symbol: "{symbol}") { chain { meta { rowCount } } } }',
  example: { shown: { params: { expiry: '{expiry}', strike_gte: '630000', strike_lte: '640000' } } },
  instant: 'own at',
  answer: 'symbol.chain',
  absent: restNames(chainColumns),
  errors: [400, 403, 502, 503],
  protobuf: chainResponse,
});
