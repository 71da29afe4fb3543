import type { OffExchangeTable } from '../../../core/domain/offexchange/off-exchange.ts';
import { offExchangeLimits } from '../../../core/domain/offexchange/off-exchange.ts';
import { itemsAsked } from '../../../schema/cost.ts';
import { cursor, positiveInt, windowEnd } from '../../contract/params.ts';
import { offExchangeResponse } from '../../contract/protobuf.ts';
import { type RouteSettings, route } from '../../contract/route.ts';

// Spec 4.18 and contract-notes 3: four tables, one shape.
function offExchange(
  table: OffExchangeTable,
  summary: string,
  cursorExample: string,
  shown: Record<string, string> = {},
): RouteSettings {
  return route({
    path: `/v2/offexchange/:symbol/${table}`,
    summary,
    description:
      'Off-exchange trading by session. A session is available from the next morning. Rows with fewer than three executions are omitted. Repeat with meta.cursor until it is absent. A page costs one request, and one more for each begun 1,000 rows of limit above 1,000.',
    scopeGroup: 'analytics.offexchange',
    params: {
      to: windowEnd.optional(),
      limit: positiveInt.optional(),
      cursor: cursor(512, cursorExample).optional(),
    },
    name: `off-exchange-${table}`,
    operation: `offexchange/${table}.graphql`,
    graphql: `{ symbol(symbol: "{symbol}") { offExchange { ${table} { rows { date } meta { count } } } } }`,
    example: { shown: { params: { symbol: 'AAPL', ...shown } } },
    instant: 'without known',
    answer: `symbol.offExchange.${table}`,
    rowsAsked: ({ limit }) => itemsAsked(limit as number | undefined, offExchangeLimits.max, offExchangeLimits.default),
    aboutSessions: true,
    errors: [400, 403, 404, 502, 503],
    // Spec 4.18 gives it for sessions' totals alone.
    withoutMeta: table === 'activity' ? [] : ['disclosureK'],
    protobuf: offExchangeResponse(table),
  });
}

export const offExchangeRoutes: readonly RouteSettings[] = [
  offExchange(
    'concentration',
    'Off-exchange price buckets',
    'MS4yMDI2LTExLTIwfDIwMjYtMTEtMjB8MjAyNi0xMS0yMHwxLlJGQTBDWF9zQi0zRw',
    { limit: '3' },
  ),
  offExchange(
    'activity',
    'Off-exchange totals by session',
    'MS4yMDI2LTExLTIwfDIwMjYtMTEtMjB8MjAyNi0xMS0yMHwuSXRsck9IT244Tm9B',
  ),
  offExchange(
    'composition',
    'Off-exchange trading by kind',
    'MS4yMDI2LTExLTIwfDIwMjYtMTEtMjB8MjAyNi0xMS0yMHxyZWd1bGFyX3dheS5yaFVzSkFUOHRWUVk',
  ),
  offExchange(
    'profile',
    'Off-exchange trading by price',
    'MS4yMDI2LTExLTIwfDIwMjYtMTEtMjB8MjAyNi0xMS0yMHw2MDAwMDAuX1lTZzltSWlZN0FW',
    { limit: '3' },
  ),
];
