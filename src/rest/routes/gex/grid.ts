import { restNames } from '../../../core/domain/columns.ts';
import { partColumns } from '../../../core/domain/gex/gex-columns.ts';
import { oneOf, positiveInt, sessionDatesOrAll } from '../../contract/params.ts';
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
    expiries: sessionDatesOrAll.optional(),
    dte: oneOf(['0']).optional(),
    top: positiveInt.optional(),
  },
  name: 'gex-grid',
  operation: 'gex/grid.graphql',
  graphql: '{ symbol(symbol: "{symbol}") { gex { grid { netGex } } } }',
  example: { shown: { params: { top: '3' } } },
  instant: 'own at',
  answer: 'symbol.gex.grid',
  variables: { dte: ({ dte }) => (dte === undefined ? undefined : Number(dte)) },
  absent: [...restNames(partColumns), 'gex_0dte_shares'],
  errors: [400, 403, 502, 503],
  protobuf: gexGridResponse,
});
