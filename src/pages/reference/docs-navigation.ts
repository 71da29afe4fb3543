import { type Html, html, trusted } from '../html.ts';
import { guides } from './guides/guides.ts';
import { searchButton } from './search-dialog.ts';

/** The contents beside every page below `/docs`: the search, the guides, and the page's own part. */
export function contents(current: string, own: Html): Html {
  return html`<nav class="contents" aria-label="Documentation">
${searchButton}
<div class="nav-group"><h2>Guides</h2><ul>${guides.map(
    ({ path, title }) =>
      html`<li><a href="${path}"${path === current && trusted(' aria-current="page"')}>${title}</a></li>`,
  )}</ul></div>
${own}</nav>`;
}
