import { type Html, html } from '../html.ts';
import { originText } from '../origin.ts';

/** What holds for every route. */
export function introduction(origin: string): Html {
  return html`<section id="start" class="group" aria-labelledby="start-title"><h1 id="start-title">API reference</h1>
<p>Every route below is a stored operation of the graph at <a href="/graphql"><code>/graphql</code></a>: the same figures, rules and limits
by either door. For programs: <a href="/v2/openapi.json">OpenAPI 3.1</a>, <a href="/v2/rest-protocol.proto">protobuf messages</a>.</p>
<dl class="facts wide">
<dt>Address</dt><dd><code>${originText(origin)}</code></dd>
<dt>Credential</dt><dd><code>Authorization: Bearer</code> with an API key or a site-session token, or <code>X-API-Key</code> with a key. Never in an address.
  A key typed at the top of this page is kept for this browser tab only, and used by <em>Try it</em>.</dd>
<dt>Answers</dt><dd><code>{"data", "meta"}</code>. null is unknown, zero is a value. Prices are dollars, instants epoch milliseconds, strikes
  thousandths of a dollar, unless a field says otherwise. <code>meta.caps</code> tells your tier and what was reduced for it.</dd>
<dt>Parameters</dt><dd>Unknown ones are passed over. A bad one is <a href="#error-400">400</a> and named. Symbols may be in any case.</dd>
<dt>Rate</dt><dd>By the minute and the key; <code>x-ratelimit-limit</code>, <code>-remaining</code> and <code>-reset</code> tell how you stand.
  Over it: <a href="#error-429">429</a> with <code>Retry-After</code>.</dd>
<dt>Caching</dt><dd>What is built from past sessions alone comes with an <code>ETag</code> and may be kept by you; what still changes is
  <code>no-store</code>.</dd>
<dt>Media types</dt><dd>JSON unless <code>Accept</code> asks for another that the route lists.</dd>
</dl></section>`;
}

/** How AI clients are set up; `count` = tools there are. */
export function aiClients(origin: string, count: number): Html {
  const at = originText(origin);
  return html`<section id="mcp" class="group" aria-labelledby="mcp-title"><h2 id="mcp-title">AI clients</h2>
<p>Each of the ${count} routes is a tool of the Model Context Protocol at <code>${at}/mcp</code> (streamable HTTP), under the key that the client
sends; <code>graphql</code> is one more. Figures, entitlement, rate and usage are those of the routes; lists in answers are cut to what a model can
take, and what was cut is told.</p>
<pre tabindex="0"><code>claude mcp add --transport http tapegraph ${at}/mcp --header "Authorization: Bearer $KEY"</code></pre>
<pre tabindex="0"><code>{ "mcpServers": { "tapegraph": { "type": "http", "url": "${at}/mcp", "headers": { "Authorization": "Bearer …" } } } }</code></pre>
</section>`;
}
