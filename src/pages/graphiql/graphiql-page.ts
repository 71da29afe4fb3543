import type { Request } from 'express';
import { examplesAt } from '../../graphql/examples.ts';
import { graphiqlOptions } from '../../graphql/graphiql-options.ts';
import type { Assets } from '../assets.ts';
import { html, trusted } from '../html.ts';
import type { SiteState } from '../market-note.ts';
import { beforePaint, type EditorPage, header } from '../page-document.ts';
import type { PagesParts } from '../pages-dependencies.ts';
import { graphiqlFrame } from './skeleton.ts';

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
