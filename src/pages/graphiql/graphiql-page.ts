import type { Request } from 'express';
import type { GraphiQLOptions } from 'graphql-yoga';
import { examplesAt } from '../../graphql/examples.ts';
import { graphiqlOptions } from '../../graphql/graphiql-options.ts';
import { guide } from '../../schema/guide.ts';
import type { Assets } from '../assets.ts';
import { type Html, html, prose, trusted } from '../html.ts';
import type { SiteState } from '../market-note.ts';
import { beforePaint, type EditorPage, header } from '../page-document.ts';
import type { PagesParts } from '../pages-dependencies.ts';

// Run once the frame is painted (client/fill-skeleton.ts).
const afterPaint = ['graphiql/app.js', 'graphiql/client/start-graphiql.js', 'graphiql/client/show-cost.js'];

/** Media types that the graph answers with. */
const answers = ['application/json', 'application/graphql-response+json', 'text/event-stream', 'text/html'];
/** A value as JSON in the page, escaped: a value from the address could close the element and open another. */
const inert = (value: unknown) => trusted(JSON.stringify(value).replaceAll('<', '\\u003c'));

/** True if a request at the address of the graph opens GraphiQL. Where documents must be listed, the graph says so. */
export function asksForEditor({ trustedOnly }: PagesParts, request: Request): boolean {
  return (
    !trustedOnly && request.headers.accept?.includes('text/html') === true && request.accepts(answers) === 'text/html'
  );
}

/**
 * GraphiQL, for browsers at the address of the graph. Its files are assets; its options are in the page, for the script
 * that starts it, with a static preview of its content.
 */
export function graphiqlPage({ now }: PagesParts, request: Request, assets: Assets, site: SiteState): EditorPage {
  const options = graphiqlOptions(request.originalUrl, now());
  const examples = examplesAt(now());
  const scripts = afterPaint.map((path) => assets.address(path));
  return {
    document: html`<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<title>${options.title}</title>
<meta name="description" content="Write, run and share GraphQL queries against this gateway, with its schema beside them.">
<link rel="icon" href="${assets.address('icon.svg')}" type="image/svg+xml">
<link rel="stylesheet" href="${assets.address('graphiql/graphiql.css')}">
${beforePaint(assets, site)}
<script src="${assets.address('graphiql/client/prepare-storage.js')}"></script>
${scripts.map((address) => html`<link rel="preload" as="script" href="${address}" fetchpriority="low">\n`)}
<script type="module" src="${assets.address('client/site-header.js')}"></script>
</head>
<body id="body" class="no-focus-outline">
${header('/graphql', site)}
<main id="main"><h1>GraphiQL</h1><noscript>GraphiQL needs JavaScript.</noscript>
<div class="examples" data-needs-script><label for="examples">Examples</label> <select id="examples"><option value="">Open one…</option>${examples.map(({ name }, index) => html`<option value="${index}">${name}</option>`)}</select> <span id="cost" hidden><meter aria-label="Expected cost, of the requests per minute"></meter> <output></output></span></div>
<div id="root">${graphiqlFrame(options)}</div></main>
<script type="application/json" id="graphiql-options">${inert(options)}</script>
<script type="application/json" id="graphiql-examples">${inert(examples.map(({ query }) => query))}</script>
<script src="${assets.address('graphiql/client/fill-skeleton.js')}" data-scripts="${scripts.join(' ')}"></script>
</body>
</html>
`,
  };
}

const strong = (text: string): Html =>
  html`${text.split('**').map((part, index) => (index % 2 === 1 ? html`<strong>${prose(part)}</strong>` : prose(part)))}`;

/** The guide in the form of GraphiQL's documentation: paragraphs, lists, code and strong words. */
function guideText(): readonly Html[] {
  return guide.split('\n\n').map((block) => {
    const lines = block.split('\n');
    const text = lines.filter((line) => !line.startsWith('- '));
    const items = lines.filter((line) => line.startsWith('- ')).map((line) => line.slice(2));
    return html`<p>${strong(text.join(' '))}</p>${items.length > 0 && html`<ul>${items.map((item) => html`<li>${strong(item)}</li>`)}</ul>`}`;
  });
}

const nameOf = (query: string) => /^\s*(?:query|mutation|subscription)\s+(\w+)/m.exec(query)?.[1] ?? '<untitled>';

/**
 * A static preview of GraphiQL, which GraphiQL replaces: the query, the names of the tabs and the guide, at the
 * positions and with the classes that GraphiQL uses. client/fill-skeleton.ts adds the content of the browser's storage.
 */
function graphiqlFrame({ defaultTabs = [] }: GraphiQLOptions): Html {
  const queries = defaultTabs.map(({ query }) => query ?? '');
  return html`<div class="graphiql-container frame">
<div class="graphiql-sidebar"></div>
<div class="graphiql-main">
<div class="frame-plugin"><div class="graphiql-plugin"><section class="graphiql-doc-explorer" aria-label="Documentation">
<div class="graphiql-doc-explorer-header"><div class="graphiql-doc-explorer-title">Docs</div></div>
<div class="graphiql-doc-explorer-content"><div class="graphiql-markdown-description">${guideText()}</div></div>
</section></div></div>
<div class="graphiql-horizontal-drag-bar"></div>
<div class="graphiql-sessions">
<div class="graphiql-session-header"><ul class="graphiql-tabs" id="frame-tabs">${queries.map(
    (query, index) =>
      html`<li class="graphiql-tab ${index === 0 && 'graphiql-tab-active'}"><span class="graphiql-tab-button">${nameOf(query)}</span></li>`,
  )}</ul></div>
<div class="graphiql-session">
<div><div class="graphiql-editors"><section class="graphiql-query-editor" aria-label="Query">
<pre id="frame-query">${queries[0]}</pre><div class="graphiql-toolbar"></div></section><div class="graphiql-editor-tools"></div><div class="graphiql-editor-tool"></div></div></div>
<div class="graphiql-horizontal-drag-bar"></div>
<div><div class="graphiql-response"></div></div>
</div>
</div>
</div>
</div>`;
}
