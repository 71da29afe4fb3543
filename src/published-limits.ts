import { maxLiveKeys } from './access/identity/api-keys.ts';
import { pointsPerRequest } from './access/limits/body-points.ts';
import { maxInFlight } from './access/limits/in-flight.ts';
import { methodologyVersion } from './core/analytics/methodology.ts';
import { offExchangeLimits } from './core/domain/offexchange/off-exchange.ts';
import { viewRequests } from './pages/dashboard/view-requests.ts';
import type { PublishedLimits } from './pages/guide-limits.ts';
import type { Config } from './platform/config/config.ts';
import { optionBarLimits } from './resolvers/chain/option-bars.ts';
import { largeTradeLimits } from './resolvers/flow/large-trades.ts';
import { keyDefaultTop } from './resolvers/gex/history.ts';
import { journalPageMax } from './resolvers/journal/records.ts';
import { moverLimits } from './resolvers/market/movers.ts';
import { maxQuotes } from './resolvers/market/quotes.ts';
import { barLimits, keySpanDays } from './resolvers/market/stock-bars.ts';

const offExchangeRoutes = ['activity', 'concentration', 'composition', 'profile'] as const;

/** Limits quoted in the guides, each read from the code that enforces it. */
export function publishedLimits({ rates, maxStreams }: Pick<Config, 'rates' | 'maxStreams'>): PublishedLimits {
  return {
    rates,
    streams: maxStreams,
    inFlight: maxInFlight,
    pointsPerRequest,
    liveKeys: maxLiveKeys,
    pages: [
      { route: 'stock-bars', ...barLimits },
      { route: 'option-bars', ...optionBarLimits },
      { route: 'large-trades', ...largeTradeLimits },
      ...offExchangeRoutes.map((name) => ({ route: `off-exchange-${name}`, ...offExchangeLimits })),
      { route: 'movers', ...moverLimits },
      { route: 'journal-trades', default: journalPageMax, max: journalPageMax },
    ],
    barSpanDays: keySpanDays,
    gexTop: keyDefaultTop,
    view: viewRequests,
    quotes: maxQuotes,
    methodologyVersion,
  };
}
