import type { GraphiQLOptions } from 'graphql-yoga';
import { guide } from '../../schema/guide.ts';
import { type Html, html } from '../html.ts';
import { prose } from '../prose.ts';

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
export function graphiqlFrame({ defaultTabs = [] }: GraphiQLOptions): Html {
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
