import { type Html, html } from '../html.ts';
import { originText } from '../origin.ts';

/** Rules that apply to every route. */
export function introduction(): Html {
  return html`<section id="start" class="group" aria-labelledby="start-title"><h1 id="start-title">API reference</h1>
<p>Every route below is a stored operation of the graph at <a href="/graphql"><code>/graphql</code></a>. REST and
GraphQL return the same figures under the same rules and limits. For programs: <a href="/v2/openapi.json">OpenAPI 3.1</a>, <a href="/v2/rest-protocol.proto">protobuf messages</a>.</p>
<dl class="facts wide">
<dt>Address</dt><dd><code>${originText}</code></dd>
<dt>Credential</dt><dd><code>Authorization: Bearer</code> with an API key or a site-session token, or <code>X-API-Key</code> with a key. Never put it into a URL.
  <em>Try it</em> uses the key entered at the top of this page, which is stored in this browser until you remove it. <a href="/docs/key">Getting a key</a></dd>
<dt>Answers</dt><dd><code>{"data", "meta"}</code>. null means unknown; zero is a value. Unless a field says otherwise, prices are dollars, times are
  epoch milliseconds and strikes are thousandths of a dollar. <code>meta.caps</code> reports your tier and what was reduced for it.</dd>
<dt>Parameters</dt><dd>Unknown parameters are ignored. An invalid parameter returns <a href="#error-400">400</a> and is named in the message. Symbols can be in any case.</dd>
<dt>Rate</dt><dd>Requests per minute and key. <code>x-ratelimit-limit</code>, <code>-remaining</code>, <code>-reset</code> and <code>-consumed</code> report the current state.
  Over the limit: <a href="#error-429">429</a> with <code>Retry-After</code>. <a href="/docs/rates">Rates and budgets</a></dd>
<dt>Caching</dt><dd>Answers about past sessions only have an <code>ETag</code> and can be cached. Answers that can still change are
  <code>no-store</code>. <a href="/docs/paging">Paging and caching</a></dd>
<dt>Media types</dt><dd>JSON by default. <code>Accept</code> can request any other type the route lists.</dd>
</dl></section>`;
}

/** Set-up of AI clients; `count` = number of tools. */
export function aiClients(count: number): Html {
  const at = originText;
  return html`<section id="mcp" class="group" aria-labelledby="mcp-title"><h2 id="mcp-title">AI clients</h2>
<p>Each of the ${count} routes is a tool of the Model Context Protocol at <code>${at}/mcp</code> (streamable HTTP), called with the key of the client.
The tool <code>graphql</code> runs any query. Figures, entitlement, rate limits and usage are those of the routes. Long lists are truncated
to a size that models can process, and the answer reports what was truncated.</p>
<pre tabindex="0"><code>claude mcp add --transport http tapegraph ${at}/mcp --header "Authorization: Bearer $KEY"</code></pre>
<pre tabindex="0"><code>{ "mcpServers": { "tapegraph": { "type": "http", "url": "${at}/mcp", "headers": { "Authorization": "Bearer …" } } } }</code></pre>
</section>`;
}
