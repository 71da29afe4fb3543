import { sessionsUpTo } from '../../core/domain/calendar.ts';
import { latestSession } from '../../graphql/examples.ts';
import { type Standing, standingAt } from '../../rest/contract/example.ts';
import { endedOn, type ScopeGroup } from '../../rest/contract/route.ts';
import { errorStatuses } from '../../rest/openapi/errors.ts';
import type { Assets } from '../assets.ts';
import { type Html, html } from '../html.ts';
import type { SiteState } from '../market-note.ts';
import type { Page } from '../page-document.ts';
import type { PagesParts } from '../pages-dependencies.ts';
import { contents } from './docs-navigation.ts';
import { type CapturedExamples, capturedExamples } from './example-answers.ts';
import { shownRequest } from './example-request.ts';
import { aiClients, introduction } from './introduction.ts';
import { jsonText } from './json-text.ts';
import { describedBy } from './openapi-fields.ts';
import { routeSection, type ShownRoute } from './route-section.ts';
import { searchDialog } from './search-dialog.ts';
import { searchPath } from './search-index.ts';
import { streamSection } from './stream-section.ts';

const groupTitles: Record<ScopeGroup, string> = {
  'market.reference': 'Symbols and expirations',
  'market.live': 'Quotes and chains',
  'market.bars': 'Bars',
  'market.screener': 'Screeners',
  'analytics.gex': 'Dealer gamma',
  'analytics.flow': 'Option flow',
  'analytics.vol': 'Greeks and volatility',
  'analytics.offexchange': 'Off-exchange',
  account: 'Account',
  watchlists: 'Watchlists',
  journal: 'Journal',
  own: 'Own routes',
};

/** The ids of records created by earlier examples, from the captured addresses. */
function madeIds({ routes }: CapturedExamples): Pick<Standing, 'key' | 'trade'> {
  const madeId = (route: string) => routes[route]?.address.split('/').at(-1);
  const [key, trade] = [madeId('revoke-key'), madeId('delete-journal-trade')];
  return { ...(key && { key }), ...(trade && { trade }) };
}

/** The server's state that the page shows. */
type ReferenceParts = Pick<PagesParts, 'compiled' | 'description' | 'streams' | 'now'>;

function shownRoutes({ compiled, description, now }: ReferenceParts, examples: CapturedExamples): ShownRoute[] {
  const standing = { ...standingAt(now()), ...madeIds(examples) };
  return compiled.map((one) => ({
    compiled: one,
    described: describedBy(description, one.route.method, one.route.path),
    request: shownRequest(one.route, standing),
    captured: examples.routes[one.route.name] ?? null,
    endedOn: endedOn(one.route, now()),
  }));
}

function navigation(groups: ReadonlyMap<ScopeGroup, readonly ShownRoute[]>): Html {
  const own = html`<ul class="places"><li><a href="#start">Start here</a></li><li><a href="#stream">Live streams</a></li><li><a href="#errors">Errors</a></li><li><a href="#mcp">AI clients</a></li></ul>
${[...groups].map(
  ([group, shown]) =>
    html`<div class="nav-group"><h2>${groupTitles[group]}</h2><ul>${shown.map(
      ({ compiled: { route }, described }) =>
        html`<li><a href="#${described.operationId}"><span
          class="method ${route.method.toLowerCase()}">${route.method === 'DELETE' ? 'DEL' : route.method}</span> ${route.summary}</a></li>`,
    )}</ul></div>`,
)}`;
  return contents('/docs', own);
}

/** Number of sessions that date fields suggest. */
const suggestedSessions = 20;

/** The latest sessions, for the forms that try routes; the first is the last that has begun. */
function latestSessions(nowMs: number): Html {
  const sessions = sessionsUpTo(latestSession(nowMs), suggestedSessions).reverse();
  return html`<datalist id="latest-sessions">${sessions.map((date) => html`<option value="${date}"></option>`)}</datalist>`;
}

interface ShownFrom {
  examples: CapturedExamples;
  assets: Assets;
}

function body(parts: ReferenceParts, { examples, assets }: ShownFrom): Html {
  const all = shownRoutes(parts, examples);
  const groups = new Map(
    (Object.keys(groupTitles) as ScopeGroup[]).map((group) => [
      group,
      all.filter(({ compiled: { route } }) => route.scopeGroup === group),
    ]),
  );
  if (groups.get('own')!.length === 0) groups.delete('own');
  return html`<div class="reference">
${navigation(groups)}
<main id="main">
${introduction()}
${[...groups].map(
  ([
    group,
    shown,
  ]) => html`<section class="group" id="group-${group}" aria-labelledby="group-${group}-title"><h2 id="group-${group}-title">${groupTitles[group]}</h2>
${shown.map(routeSection)}</section>`,
)}
${streamSection({ operations: parts.streams, description: parts.description })}
${errorSection()}
${aiClients(parts.compiled.length)}
<p class="muted">The answers shown are from the sample market at ${examples.clock}. Long lists are truncated.</p>
</main></div>
${latestSessions(parts.now())}
${searchDialog(assets.address(searchPath))}`;
}

/** `/docs`: every route of the table, generated from it, with captured answers. */
export function referencePage(
  examples = capturedExamples,
): (parts: ReferenceParts, site: SiteState, assets: Assets) => Page {
  return (parts, _site, assets) => ({
    title: 'API reference · Tapegraph',
    description: 'Every route with its parameters, example answers, errors and GraphQL operation.',
    current: '/docs',
    styles: ['reference/reference.css'],
    scripts: ['reference/client/main.js'],
    body: body(parts, { examples, assets }),
  });
}

/** Statuses of failures without a route. */
const besideRoutes = {
  405: {
    description: 'The path does not support this method. Allow lists the methods it supports.',
    codes: { invalid_params: '' },
  },
};

/** Examples of failures, by status. */
function errorSection(): Html {
  const all = Object.entries({ ...errorStatuses, ...besideRoutes }).sort(
    ([one], [other]) => Number(one) - Number(other),
  );
  return html`<section id="errors" class="group" aria-labelledby="errors-title"><h2 id="errors-title">Errors</h2>
<p>A failure is <code>{"error": {"code", "message", "details"?}}</code>; in GraphQL the code is in <code>extensions.code</code>. The
message names what was wrong. Every answer has an <code>x-request-id</code>: include it when you report a problem.
Retry 429 after <code>Retry-After</code> seconds, and 502 and 503 after a pause. Do not retry other failures.</p>
${all.map(([status, { description, codes }]) => {
  const captured = capturedExamples.failures[status];
  return html`<article class="error" id="error-${status}"><h3><span class="status">${status}</span> ${Object.keys(codes).map((code) => html`<code>${code}</code> `)}</h3>
<p>${description}</p>
${captured ? html`<p class="muted asked"><code>${captured.method} ${captured.address}</code></p><pre tabindex="0"><code>${jsonText(captured.answer)}</code></pre>` : null}
</article>`;
})}
</section>`;
}
