import { endedOn, writtenPath } from '../../../rest/contract/route.ts';
import { type Html, html, prose } from '../../html.ts';
import type { Guide, GuideParts, GuideSection } from './guide-types.ts';

/** A change of a release that clients notice. */
interface Change {
  /** Date of the release, YYYY-MM-DD. */
  date: string;
  /** The methodology version that starts with it; null = unchanged. */
  methodology: string | null;
  /** New features. Words between backticks are code. */
  added: readonly string[];
  /** Changed answers. */
  changed: readonly string[];
}

/** The changes of the published contract, the latest first: the content of `/docs/changelog`. */
export const changes: readonly Change[] = [
  {
    date: '2026-11-28',
    methodology: '4',
    added: [
      '`as_of` in rows of `/v2/screener/screen` and `/v2/levels/{symbol}`, `asOf` in the graph: the time of the quotes behind a figure. `age` of captures in the graph.',
      'Chains in several files, such as one per expiry or right, are one chain in any order. One that lacks contracts is served at its exact `at` alone.',
      'Where a symbol is unknown, and the route answers 200, `meta.note` says so.',
      '`meta.journal` and `meta.screens` of `/v2/account/usage`: numbers of trades and screens.',
    ],
    changed: [
      'The off-exchange concentration is made from published price levels alone, and levels are withheld so that no combination of published rows leaves one or two executions.',
      'The spot of a chain is checked by the quotes of all expiries up to 60 days; interest rates are those of the chain, else of US Treasury bills, unless rates are loaded.',
      '`atmIv` is read at the forward. An expiry is inconsistent if the straddle of its strike contradicts the model.',
      'A latest capture of neither the current nor the last session is served as stored, with `plane` `archive` and its date in `meta.note`.',
      'As of an instant within a session, the day so far has every print up to then, to the second.',
      'Minute greeks of a session that is read from files are those of the corrected tape.',
      'A page of more than 1,000 rows of the off-exchange routes costs one request for each begun 1,000.',
      'A GraphQL document may name 1,000 ids in its arguments. Fields that would start more work at once than allowed start one after the other.',
      '`data` of `/v2/account/usage` has the keys of the contract alone.',
      'Cursors are bound to `at` and `known` too.',
      'Bars of an index have volume 0, with a note.',
    ],
  },
  {
    date: '2026-11-25',
    methodology: '3',
    added: [
      '`asOf(at:)` of the graph: every market field as of an instant in the past. REST has `at` and `tz` on every market route, and `meta.at`, `meta.at_effective`.',
      '`flipStatus` of GEX captures: how much a flip point says. REST has `meta.flip_status` in the grid, the reference and the history.',
      '`callGexPeak` and `putGexPeak` of GEX captures: the strikes with the largest call gex and the largest absolute put gex.',
      '`inputs` of GEX captures: what each root and expiry was priced with, the versions, and the file of the chain. `gammaDecimals`: with how many decimals the source prints gammas.',
      '`meta.inconsistent_expiries` and `meta.spot_stale` of the grid, the history, the chain and the volatilities.',
      '`GET /v2/gex/{symbol}/change`, and `gex { diff }` of the graph: the change of gex between two captures, split into spot, time, volatility, open interest, listing and residual, by strike and by expiry. `gex { sessions }`: the figures at the end of each session.',
      '`GET /v2/levels/{symbol}`, `symbol.levels`: walls, flip, zero gamma, max pain, expected moves and off-exchange levels with their distance from the spot; as JSON, CSV, or a text for chart platforms.',
      '`screener(where:)`, `GET /v2/screener/screen`: the symbols whose figures meet a filter, live or as of an instant. `putScreen`, `screen(id) { result }` and `/v2/screener/screens` save screens and run them; `usage` reports how many.',
      '`sourceTime` and `delayMs` of chains, GEX captures, grids and references in the graph: the time of the quotes, and how much older they are than the capture. REST has `meta.source_time` if a capture is delayed.',
      '`GET /v2/gex/{symbol}/exposures`, `symbol.gex.exposures` of the graph: delta, vanna, charm and vega exposure by strike and by expiry.',
      '`GET /v2/options/{symbol}/vol/figures`, `symbol.volatility.figures`: volatility at 7 to 90 days, skew at 25 delta, rank and percentile, realized volatility, variance risk premium.',
      '`GET /v2/options?contracts=` and `contracts(ids:)`: up to 250 contracts in one call, with volume against open interest.',
      '`GET /v2/options/{contract}/history`, `contract.history`: a contract by session.',
      '`GET /v2/flow/{symbol}/unusual`, `symbol.flow.unusual`: premium of the session against its mean over a month to the same minute.',
    ],
    changed: [
      'An `at` more than a minute in the future returns 400; it meant now.',
      '`callWall` and `putWall` are the strikes with the largest positive and the most negative net gex. They were the strikes that are now the peaks.',
      '`expectedMoveSigma` is of the price that options are priced with: the implied spot if the spot is stale, or the forward if options follow one.',
      '`flipIsRemote` is deprecated; use `flipStatus`.',
      'Captures of a delayed source are computed as of the time of their quotes: time to expiry, volatilities, greeks and 0DTE. `captured_at` stays the time of the page.',
      'The `ts_ms` of greeks and the `as_of_ms` of volatilities are the time of the quotes.',
      'Volumes of bars and quotes are rounded to whole shares if prints have fractions of a share.',
      'Streams of bars send corrections of the session before the current one, also after 20:00 New York.',
      '`me.apiTier` of the graph is never null.',
      'AI clients: a batch in which two requests have the same id is rejected.',
      '`/v2/openapi.json`, `/schema.graphql` and the other descriptions of the interface are compressed if the client accepts it, and have an `ETag`.',
    ],
  },
  {
    date: '2026-11-22',
    methodology: '2',
    added: [
      '`POST /v2/stream/ticket` and `/v2/ws`: a WebSocket with JSON control messages and protobuf frames.',
      '`/graphql` supports `graphql-transport-ws`, for queries, mutations and subscriptions.',
      '`chainCaptured`: a subscription to the captures of a chain.',
      '`symbol.lastSession` of the graph: the last session with a daily bar, however long ago.',
      '`symbol.sessionDates` of the graph: the dates of sessions that have data, latest first.',
      'Objects of the graph have global ids; `node` and `nodes` read objects by id.',
      '`symbol.flow.largeTrades` of the graph filters by `kind`, `side`, `right` and `expiry`, has a `cursor`, and reports the total number in `meta.total`.',
      'CSV, Arrow, Parquet and protobuf pages name the next page in `Link: <…>; rel="next"`.',
      'Answers to site sessions also have the rate headers.',
      'OpenAPI has named schemas, response headers, the public paths, and examples that work if they are sent.',
    ],
    changed: [
      'If spot and option quotes disagree, options are priced at the spot that the quotes imply, with a forward and a yield per expiry. A GEX capture reports whose volatilities it uses, and its `methodologyVersion`.',
      'The chain reports in `meta.greeks_source` whose volatilities and greeks its rows show: `vendor` or `solved`.',
      '`symbols(search:)` of the graph lists the ticker itself first, then tickers that begin with the text, then names that contain it.',
      'Auction prints have a side. The side of a late print is inferred from the quote of its own time.',
      'With `Accept: application/graphql-response+json`, answers without `data` have a 4xx or 5xx status.',
      'A GraphQL document that costs more than the budget of a whole minute returns 400, not 429.',
      'Every answer has `Vary: Accept, Accept-Encoding, Authorization, X-API-Key`; `/graphql` and `/mcp` are `no-store`.',
      'AI clients: a truncated list contains the newest items of a series, the strikes nearest to the spot, or the highest ranks. Tools that a key cannot use are not listed.',
    ],
  },
  {
    date: '2026-11-20',
    methodology: '1',
    added: ['The first published contract: the routes below `/v2`, the graph, `/v2/stream` and `/mcp`.'],
    changed: [],
  },
];

const list = (title: string, items: readonly string[]): Html | null =>
  items.length === 0 ? null : html`<h3>${title}</h3><ul>${items.map((item) => html`<li>${prose(item)}</li>`)}</ul>`;

function release({ date, methodology, added, changed }: Change): GuideSection {
  return {
    id: `changes-${date}`,
    title: date,
    body: html`${methodology !== null && html`<p>Figures are computed by methodology version <b>${methodology}</b>.</p>`}
${list('Added', added)}${list('Changed', changed)}`,
  };
}

function present({ limits: { methodologyVersion }, compiled, nowMs }: GuideParts): GuideSection {
  const retiring = compiled.flatMap(({ route }) => {
    if (!route.sunset) return [];
    const until = new Date(route.sunset.atMs).toISOString().slice(0, 10);
    const path = writtenPath(route.path);
    const { successor } = route.sunset;
    return [{ name: route.name, path, successor, until, isOver: endedOn(route, nowMs) !== null }];
  });
  return {
    id: 'versions',
    title: 'Versions',
    body: html`<p>Routes are below <code>/v2</code>. Fields can be added to answers without a new version: ignore fields that you do not know, and expect new values of
<code>meta.plane</code>. The definitions of the figures have their own version, currently <b>${methodologyVersion}</b>. It is raised when
the meaning of a figure changes; in the graph, each GEX capture has the version it was computed with as <code>methodologyVersion</code>.</p>
${retiring.map(
  ({ name, path, successor, isOver, until }) =>
    html`<p>${isOver ? 'Ended' : 'Deprecated'}: <a href="/docs#${name}"><code>${path}</code></a> ${isOver ? 'was' : 'is'} served until ${until}; use <code>${successor}</code>. Its answers have the headers <code>Deprecation</code> and <code>Sunset</code>.</p>`,
)}`,
  };
}

/** Changes of the published contract. */
export const changelogGuide: Guide = {
  path: '/docs/changelog',
  title: 'Changelog',
  alsoCalled: 'release notes, what’s new, deprecation',
  about: 'Changes of the published contract and of the definitions of the figures.',
  sections: (parts) => [present(parts), ...changes.map(release)],
};
