import type { Request } from 'express';
import { graphiqlOptions } from '../../graphql/graphiql-options.ts';
import type { Assets } from '../assets.ts';
import { html, trusted } from '../html.ts';
import type { SiteState } from '../market-note.ts';
import type { PagesParts } from '../pages.ts';
import { beforePaint, type EditorPage, header } from '../shell.ts';
import { graphiqlFrame } from './frame.ts';

const styles = ['graphiql/app.css', 'colours.css', 'header.css', 'graphiql/graphiql.css'];
// Run once the frame is painted (client/frame.ts).
const afterPaint = ['graphiql/app.js', 'graphiql/client/start.ts'];

/**
 * GraphiQL, for browsers at the address of the graph; null for other clients. Its files are assets, its options stand
 * in the page for the script that starts it, and what it will show for who reads before that.
 */
export function graphiqlPage(
  { now }: PagesParts,
  request: Request,
  assets: Assets,
  site: SiteState,
): EditorPage | null {
  if (!request.headers.accept?.includes('text/html')) return null;
  const options = graphiqlOptions(request.originalUrl, now());
  // What came from an address could end the element and begin another.
  const inert = JSON.stringify(options).replaceAll('<', '\\u003c');
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
${styles.map((path) => html`<link rel="stylesheet" href="${assets.address(path)}">\n`)}
${beforePaint(assets, site)}
<script src="${assets.address('graphiql/client/before.ts')}"></script>
${scripts.map((address) => html`<link rel="preload" as="script" href="${address}" fetchpriority="low">\n`)}
<script type="module" src="${assets.address('client/shell.ts')}"></script>
</head>
<body id="body" class="no-focus-outline">
${header('/graphql', site)}
<main id="main"><h1>GraphiQL</h1><noscript>GraphiQL needs JavaScript.</noscript><div id="root">${graphiqlFrame(options)}</div></main>
<script type="application/json" id="graphiql-options">${trusted(inert)}</script>
<script src="${assets.address('graphiql/client/frame.ts')}" data-scripts="${scripts.join(' ')}"></script>
</body>
</html>
`,
  };
}
