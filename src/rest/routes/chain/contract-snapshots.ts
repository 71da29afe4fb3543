import { contracts } from '../../contract/params.ts';
import { route } from '../../contract/route.ts';

// Contract notes 8.
export const contractSnapshots = route({
  path: '/v2/options',
  summary: 'Several option contracts',
  description:
    'Open interest, volume, prices and greeks of several contracts by the latest chains of their underlyings, one row per contract in the order of the request. A contract that no chain lists is a row of nulls. A contract the account may not read is one too, and is listed in meta.restricted. volume_to_oi is volume divided by open interest; null if none is open.',
  scopeGroup: 'market.live',
  symbolRule: 'row',
  params: { contracts: contracts(250) },
  name: 'option-contracts',
  operation: 'chain/contract-snapshots.graphql',
  graphql: '{ contracts(ids: ["{contract}"]) { rows { iv volumeToOi } meta { restricted } } }',
  example: { params: { contracts: '{contract}' } },
  answer: 'contracts',
  variables: { ids: ({ contracts: ids }) => ids },
  withoutTool: true,
  errors: [400, 502, 503],
});
