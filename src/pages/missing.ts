import { html } from './html.ts';
import { siteLinks } from './links.ts';
import type { Page } from './page-document.ts';

/** The page for an unknown path: it names the path and links to the existing pages. */
export function missingPage(path: string): Page {
  return {
    title: 'Not found · Tapegraph',
    description: 'There is no page at this address.',
    current: path,
    body: html`<main id="main" class="missing">
<h1>Page not found</h1>
<p>There is no page at <code>${path}</code>.</p>
<ul>${siteLinks
      .filter(({ inHeader }) => inHeader)
      .map(({ to, name, what }) => html`<li><a href="${to}">${name}</a>: ${what}</li>`)}</ul>
</main>`,
  };
}
