import { expirySet, positiveInt } from '../../contract/params.ts';
import { route } from '../../contract/route.ts';

// Translates only: which capture, its default gammas and choices that exclude each other are the resolver's.
export const gexFigures = route({
  path: '/v2/gex/:symbol/figures',
  summary: 'GEX in a convention',
  description:
    'Net exposure, flip, walls, max pain and strikes of a capture in a convention: unit, weight, sign, source of gammas, years, rule of the flip, rule of the walls and expiries. A preset is a named convention; a choice that is sent replaces its own. The answer repeats every choice, also in words. By default it is the convention of the other GEX routes. sign=by_flow counts the contracts bought less those sold, takes weight=volume only, and requires access to option flow; meta.flow_coverage reports the observed part of the session. top limits strikes only.',
  scopeGroup: 'analytics.gex',
  params: { expiries: expirySet.optional(), top: positiveInt.optional() },
  name: 'gex-figures',
  operation: 'gex/figures.graphql',
  graphql:
    '{ symbol(symbol: "{symbol}") { gex { figures(convention: { unit: per_percent }) { net flip unit convention { words } } } } }',
  example: { shown: { params: { unit: 'per_percent', top: '3' } } },
  instant: 'own at',
  answer: 'symbol.gex.figures',
  variables: {
    expiries: ({ expiries }) => expiries?.expiries,
    withinDays: ({ expiries }) => expiries?.withinDays,
    dates: ({ expiries }) => expiries?.dates,
  },
  withoutTool: true,
  errors: [400, 403, 502, 503],
});
