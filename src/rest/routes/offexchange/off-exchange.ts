import { exchangeTimeZone } from '../../../domain/market-time.ts';
import { pointInTime, positiveInt, text, ticker, timeZone, windowEnd } from '../../contract/params.ts';
import {
  activityResponse,
  compositionResponse,
  concentrationResponse,
  type ProtobufMessage,
  profileResponse,
} from '../../contract/protobuf.ts';
import { type Route, route } from '../../contract/route.ts';

// Spec 4.18 and contract-notes 3: four tables, one shape.
function offExchange(table: string, summary: string, protobuf: ProtobufMessage): Route {
  return route({
    path: `/v2/offexchange/:symbol/${table}`,
    summary,
    description:
      'Off-exchange trading by session. A session is available from the next morning. Rows with fewer than three executions are omitted. Repeat with meta.cursor until it is absent.',
    scopeGroup: 'analytics.offexchange',
    params: {
      symbol: ticker,
      from: pointInTime.optional(),
      to: windowEnd.optional(),
      tz: timeZone.optional(),
      limit: positiveInt.optional(),
      cursor: text(512).optional(),
    },
    name: `off-exchange-${table}`,
    operation: `offexchange/${table}.graphql`,
    answer: `symbol.offExchange.${table}`,
    variables: ({ tz, ...rest }) => ({ ...rest, tz: tz ?? exchangeTimeZone }),
    aboutSessions: true,
    errors: [400, 403, 404, 502, 503],
    protobuf,
  });
}

export const offExchangeRoutes: readonly Route[] = [
  offExchange('concentration', 'Off-exchange price buckets', concentrationResponse),
  offExchange('activity', 'Off-exchange totals by session', activityResponse),
  offExchange('composition', 'Off-exchange trading by kind', compositionResponse),
  offExchange('profile', 'Off-exchange trading by price', profileResponse),
];
