import { text } from '../../contract/params.ts';
import { route } from '../../contract/route.ts';

/** The instant at which the route was deprecated, and the last one at which it is served (spec 4.6). */
const deprecatedAtMs = Date.UTC(2026, 0, 1);
const sunsetAtMs = Date.UTC(2026, 11, 31, 23, 59, 59);

// Spec 4.6. Translates only: the resolver selects the capture and the rows.
export const legacyStrikes = route({
  path: '/gex/:underlying/strikes',
  summary: 'GEX by strike (deprecated)',
  description:
    "The rows of a session's last capture: by strike and expiry if the capture has them, else net. Available until 2026-12-31; use /v2/gex/{symbol}/grid instead.",
  scopeGroup: 'analytics.gex',
  params: { source: text(40).meta({ description: 'Accepted, but not used.' }).optional() },
  name: 'legacy-strikes',
  operation: 'gex/legacy-strikes.graphql',
  graphql: '{ symbol(symbol: "{symbol}") { gex { sessionStrikes(date: "{session}") { rows { strike } } } } }',
  example: { params: { underlying: '{symbol}', date: '{session}' } },
  answer: 'symbol.gex.sessionStrikes',
  listsTokenExpired: true,
  aboutSessions: true,
  errors: [400, 403, 410, 502, 503],
  headers: ({ underlying }) => ({
    Deprecation: `@${deprecatedAtMs / 1000}`,
    Sunset: new Date(sunsetAtMs).toUTCString(),
    Link: `</v2/gex/${encodeURIComponent(String(underlying))}/grid>; rel="successor-version"`,
  }),
  sunset: { atMs: sunsetAtMs, successor: '/v2/gex/{symbol}/grid' },
});
