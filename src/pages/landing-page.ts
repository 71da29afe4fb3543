import type { StoredOverview } from '../core/domain/market/stored-overview.ts';
import { firstQuery, firstRoute } from './first-requests.ts';
import { type Html, html } from './html.ts';
import { graphiqlLink, siteLinks } from './links.ts';
import type { SiteState } from './market-note.ts';
import { originText } from './origin.ts';
import type { Page } from './page-document.ts';
import type { PagesParts } from './pages-dependencies.ts';
import { guideAnswers } from './reference/guides/examples.ts';
import { jsonText } from './reference/json-text.ts';

function keyPanel(sampleKey: string | null): Html {
  if (sampleKey === null) {
    return html`<section class="panel key-panel" data-needs-key>
  <h2>This browser has a key</h2>
  <p>The pages send it with their queries. <em>Forget</em>, at the top of the page, removes it.
    <a href="/docs/key">More about keys</a></p>
</section>
<section class="panel key-panel" data-needs-no-key>
  <h2>You need a key</h2>
  <p>The operator of this server creates keys. A key is shown once. <a href="/docs/key">All ways to get a key</a></p>
  <pre tabindex="0"><code>npm run tapegraph -- account set me
npm run tapegraph -- key create --account me</code></pre>
</section>`;
  }
  return html`<section class="panel key-panel">
  <h2>This server runs the sample market</h2>
  <p>Its prices are simulated. This key can read all of it:</p>
  <p class="sample-key"><code id="sample-key">${sampleKey}</code></p>
  <p class="row" data-needs-script><button type="button" class="primary" data-use-sample-key>Use it in this browser</button>
  <button type="button" data-copy="#sample-key">Copy</button></p>
</section>`;
}

/** A curl command. Without a key to show, it uses the shell's variable KEY. */
const command = (key: string | null, rest: Html) =>
  html`${key === null && 'read -r KEY   # paste your key\n'}curl -H <span class="text">"Authorization: Bearer ${key ?? '$KEY'}"</span> ${rest}`;

/** The sample market's answer to one of the first requests. */
function captured(name: 'first-query' | 'first-route'): Html {
  const { answer, omitted } = guideAnswers[name]!;
  return html`<pre class="answer" tabindex="0"><code>${jsonText(answer, omitted, 66)}</code></pre>`;
}

const querySection = (): Html => html`<section>
  <h2>One query, nested data of many symbols</h2>
  <p class="muted">Price, the strike with the most dealer gamma and the option flow at it, the latest block trade and the greeks of its contract.
    A REST client sends one request for the quotes and several for each symbol, then joins the answers.</p>
  <div class="two">
    <div>
      <div class="over-code"><h3>GraphQL</h3><a href="${graphiqlLink(firstQuery)}">Open in GraphiQL</a></div>
      <pre tabindex="0"><code>${firstQuery}</code></pre>
    </div>
    <div>
      <div class="over-code"><h3>Answer of the sample market</h3></div>
      ${captured('first-query')}
    </div>
  </div>
</section>`;

function routeSection(key: string | null): Html {
  const address = html`\\
  <span class="text">'${originText}${firstRoute}'</span>`;
  return html`<section>
  <h2>Or a REST route</h2>
  <p class="muted">Each route <em>is</em> a stored GraphQL operation, so REST and GraphQL give the same answers.</p>
  <div class="two">
    <div>
      <div class="over-code"><h3>REST</h3><button type="button" data-copy="#curl-rest" data-needs-script>Copy</button></div>
      <pre id="curl-rest" tabindex="0"><code>${command(key, address)}</code></pre>
    </div>
    <div>
      <div class="over-code"><h3>Answer of the sample market</h3></div>
      ${captured('first-route')}
    </div>
  </div>
</section>`;
}

/** Maximum number of shown quotes. */
const quoted = 5;

/** Explains how to load data into an empty store. */
const emptySection = (): Html => html`<section>
  <h2>No data is stored yet</h2>
  <p class="muted">Load files of your vendor, or start the server with a simulated market: <code>npm start</code>.</p>
  <pre tabindex="0"><code>npm run tapegraph -- ingest stock-minute-bars 'vendor/minute/*.csv.gz'
npm run tapegraph -- ingest chain vendor/spx_20240107.csv.gz</code></pre>
</section>`;

const kindNames = {
  bars: 'Prices',
  chains: 'Option chains, dealer gamma',
  flow: 'Option flow',
  offExchange: 'Off-exchange trading',
} as const;

/** The contents of the store. */
function storedSection({ symbols, kinds }: StoredOverview, sample: SiteState['sample']): Html {
  const rows = Object.entries(kindNames).map(([kind, name]) => {
    const span = kinds[kind as keyof typeof kindNames];
    const cells = span
      ? html`<td>${span.sessions}</td><td>${span.from}</td><td>${span.to}</td>`
      : html`<td>–</td><td colspan="2">none stored</td>`;
    return html`<tr><th scope="row">${name}</th>${cells}</tr>`;
  });
  return html`<section id="stored">
  <h2>Stored here</h2>
  <p class="muted">${sample === null ? 'Data of its operator' : 'The sample market, whose prices are simulated'}:
    ${symbols} ${symbols === 1 ? 'symbol' : 'symbols'}. The latest sessions, at most 250:</p>
  <table><thead><tr><th scope="col">Data</th><th scope="col">Sessions</th><th scope="col">From</th><th scope="col">To</th></tr></thead>
  <tbody>${rows}</tbody></table>
</section>`;
}

/** Placeholder of the quotes, as large as they will be; without a key there are none. */
const liveSection = (
  sampleKey: string | null,
  symbols: readonly string[],
) => html`<section id="live" aria-live="polite" data-needs-${sampleKey === null ? 'key' : 'script'}>
  <h2>Latest quotes</h2>
  <div class="quotes" id="quotes">${symbols.map(
    (symbol) => html`<a class="panel quote" href="/dashboard/${symbol}" data-symbol="${symbol}"><b>${symbol}</b>
    <span class="name">\u00a0</span><span class="price">\u00a0</span><span class="small">\u00a0</span><span class="small muted">\u00a0</span></a>`,
  )}</div>
  <p class="muted" id="live-note">\u00a0</p>
</section>`;

/** The URLs, for programs that request `/`. */
export function addresses(): object {
  return Object.fromEntries(siteLinks.map(({ to, name, what }) => [to, { name, what }]));
}

/** `/`: a description of the server and links to the other pages. */
export async function landingPage({ firstSymbols, stored }: PagesParts, site: SiteState): Promise<Page> {
  const sampleKey = site.sample?.key ?? null;
  const symbols = (await firstSymbols()).slice(0, quoted);
  return {
    title: 'Tapegraph',
    description:
      'A gateway for market-data analytics: one GraphQL graph, and a REST contract made of stored operations.',
    current: '/',
    styles: ['landing/landing.css'],
    scripts: ['landing/client/main.js'],
    body: html`<main id="main" class="landing">
<div class="hero">
  <div>
    <h1>Market data and analytics in one graph</h1>
    <p class="lead">Tapegraph turns trade tapes and option chains into quotes, bars, greeks, dealer gamma, option flow and
      off-exchange activity, and serves them over GraphQL and REST.</p>
    <p class="row">${siteLinks
      .filter(({ inHeader }) => inHeader)
      .map(({ to, name }, index) => html`<a class="button ${index === 0 && 'primary'}" href="${to}">${name}</a>`)}</p>
  </div>
  ${keyPanel(sampleKey)}
</div>
${querySection()}
${routeSection(sampleKey)}
${symbols.length > 0 ? liveSection(sampleKey, symbols) : sampleKey === null && emptySection()}
${symbols.length > 0 && storedSection(await stored(), site.sample)}
<section>
  <h2>Pages and endpoints</h2>
  <ul class="endpoints">${siteLinks.map(
    ({ to, name, what }) =>
      html`<li><a class="panel" href="${to}"><strong>${name}</strong><code>${to}</code><span>${what}</span></a></li>`,
  )}</ul>
</section>
</main>`,
  };
}
