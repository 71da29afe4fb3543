import { figureOfRestName } from '../../../core/domain/screener.ts';
import { type Failure, invalidParameter } from '../../../platform/wire/failure.ts';
import { cursor, jsonObject, oneOf, positiveInt } from '../../contract/params.ts';
import { route } from '../../contract/route.ts';

/** The error of a filter or its order, with the place in it, from the message of the graph. */
export function invalidFilter(problem: string): Failure {
  const [, written, reason] = /(?: at "([^"]+)")?; (.*)$/s.exec(problem) ?? [];
  const place = written?.replace(/^screen\./, '').replace(/^orderBy/, 'order_by');
  const parameter = place?.startsWith('order_by') ? 'order_by' : 'where';
  const within = place === parameter ? undefined : place;
  return invalidParameter(parameter, [within, reason ?? 'expected the filter of the graph'].filter(Boolean).join(': '));
}

/** The cursor of a screen. */
export const screenCursor = cursor(1000, 'MS5bIkFBUEwiLG51bGxdLms0cEV3NVAxQ3lYSA').optional();

const figures = [...figureOfRestName.keys()];

// Contract notes 8. Translates only: the filter, the order and entitlement are the resolver's.
export const screen = route({
  path: '/v2/screener/screen',
  summary: 'Screen',
  description:
    'The registered symbols that the account may read and that match a filter by their latest figures. where is the filter of the graph as JSON, with the names of the graph: {"changePct":{"gt":1},"or":[{"iv30":{"gte":0.4}},{"sector":{"eq":"Energy"}}]}. Unknown values meet no comparison and come last. order_by is a figure; - before it means descending. A condition or an order on figures that the account may not read returns 403; in the rows they are null and named in meta.restricted.',
  scopeGroup: 'market.screener',
  params: {
    where: jsonObject(8192, '{"changePct":{"gt":-100}}'),
    order_by: oneOf(figures.flatMap((name) => [name, `-${name}`])).optional(),
    limit: positiveInt.optional(),
    cursor: screenCursor,
  },
  name: 'screen',
  operation: 'screener/screen.graphql',
  graphql: '{ screener(where: { changePct: { gt: -100 } }) { rows { symbol changePct } meta { totalCount } } }',
  example: {
    params: { where: '{"changePct":{"gt":-100}}' },
    shown: { params: { order_by: '-change_pct', limit: '2' } },
  },
  instant: 'without known',
  answer: 'screener',
  variables: {
    orderBy: ({ order_by }) =>
      order_by && {
        figure: figureOfRestName.get(order_by.replace('-', '')),
        direction: order_by.startsWith('-') ? 'desc' : 'asc',
      },
  },
  invalidVariables: (_variables, problem) => invalidFilter(problem),
  withoutTool: true,
  errors: [400, 403, 502, 503],
});
