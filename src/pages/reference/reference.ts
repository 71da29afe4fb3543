import type { Request } from 'express';
import { previousTradingDay } from '../../domain/calendar.ts';
import { latestSession } from '../../graphql/examples.ts';
import type { ScopeGroup } from '../../rest/contract/route.ts';
import { type Html, html } from '../html.ts';
import { originOf } from '../origin.ts';
import type { PagesParts } from '../pages.ts';
import type { Page } from '../shell.ts';
import { capturedExamples } from './captured.ts';
import { addressOf } from './client/address.ts';
import { contents } from './contents.ts';
import { describedBy } from './described.ts';
import { errorSection } from './error-section.ts';
import { exampleOf, filledIn, standingAt } from './example-requests.ts';
import { aiClients, introduction } from './introduction.ts';
import { routeSection, type ShownRoute } from './route-section.ts';
import { searchDialog } from './search-dialog.ts';
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
};

/** The id in a captured URL: that of the record an earlier example created. */
function madeId(operation: string): string {
  return capturedExamples.routes[operation]!.address.split('/').at(-1)!;
}

function shownRoutes({ compiled, description, now }: PagesParts, origin: string): ShownRoute[] {
  const standing = { ...standingAt(now()), key: madeId('revoke-key'), trade: madeId('delete-journal-trade') };
  return compiled.map((one) => {
    const { route } = one;
    const name = route.name;
    const captured = capturedExamples.routes[name];
    if (!captured) throw new Error(`${name} has no captured answer in generated/pages/examples.json`);
    const { params, body, contentType } = filledIn(exampleOf(route), standing);
    const address = addressOf(route.path, Object.keys(route.queryParams), params);
    return {
      compiled: one,
      described: describedBy(description, route.method, route.path),
      request: { address, params, body, contentType },
      captured,
      origin,
    };
  });
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

/** Sessions that the fields for dates suggest. */
const suggestedSessions = 20;

/** The latest sessions, for the forms that try routes; the first is the last that has begun. */
function latestSessions(nowMs: number): Html {
  const sessions = [latestSession(nowMs)];
  while (sessions.length < suggestedSessions) sessions.push(previousTradingDay(sessions.at(-1)!));
  return html`<datalist id="latest-sessions">${sessions.map((date) => html`<option value="${date}"></option>`)}</datalist>`;
}

function body(parts: PagesParts, origin: string): Html {
  const all = shownRoutes(parts, origin);
  const groups = new Map(
    (Object.keys(groupTitles) as ScopeGroup[]).map((group) => [
      group,
      all.filter(({ compiled: { route } }) => route.scopeGroup === group),
    ]),
  );
  return html`<div class="reference">
${navigation(groups)}
<main id="main">
${introduction(origin)}
${[...groups].map(
  ([
    group,
    shown,
  ]) => html`<section class="group" id="group-${group}" aria-labelledby="group-${group}-title"><h2 id="group-${group}-title">${groupTitles[group]}</h2>
${shown.map(routeSection)}</section>`,
)}
${streamSection({ operations: parts.streams, description: parts.description, origin })}
${errorSection()}
${aiClients(origin, parts.compiled.length)}
<p class="muted">The answers shown are from the sample market at ${capturedExamples.clock}. Long lists are truncated.</p>
</main></div>
${latestSessions(parts.now())}
${searchDialog}`;
}

/** `/docs`: every route of the table, from the table. Built once per origin and session. */
export function referencePage(): (parts: PagesParts, request: Request) => Page {
  const made = new WeakMap<PagesParts, { key: string; body: Html }>();
  return (parts, request) => {
    const origin = originOf(request);
    const key = `${origin} ${standingAt(parts.now()).session}`;
    const cached = made.get(parts);
    const found = cached?.key === key ? cached : { key, body: body(parts, origin) };
    made.set(parts, found);
    return {
      title: 'API reference · Tapegraph',
      description: 'Every route with its parameters, example answers, errors and GraphQL operation.',
      current: '/docs',
      styles: ['reference/reference.css', 'reference/search.css'],
      scripts: ['reference/client/reference.ts'],
      body: found.body,
    };
  };
}
