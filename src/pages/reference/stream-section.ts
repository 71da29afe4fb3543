import type { JsonSchema } from '../../rest/contract/json-schema.ts';
import type { StreamOperations } from '../../rest/stream/stream.ts';
import { type TopicKind, topicKinds } from '../../rest/stream/stream-topics.ts';
import { type Html, html, prose } from '../html.ts';
import { graphiqlLink } from '../links.ts';
import { originText } from '../origin.ts';
import { capturedExamples } from './example-answers.ts';
import { streamTopics } from './example-request.ts';
import { jsonText } from './json-text.ts';
import { fieldsOf } from './openapi-fields.ts';
import { fieldTable } from './route-section.ts';

/** The stream with the content of its section. */
export interface ShownStream {
  operations: StreamOperations;
  /** The OpenAPI document. */
  description: JsonSchema;
}

interface DescribedStream {
  description: string;
  responses: Readonly<Record<string, { content: { 'text/event-stream': { 'x-events': Record<string, JsonSchema> } } }>>;
}

function topic(
  [kind, kindInfo]: [string, TopicKind],
  { operations }: ShownStream,
  events: Record<string, JsonSchema>,
): Html {
  const fields = fieldsOf(events[kind]!);
  const { source } = operations.get(kind)!;
  const variables = kindInfo.variables('SPY', null);
  return html`<section class="topic" id="topic-${kind}"><h3><code>${kind}:${kindInfo.all ? 'SYMBOL or *' : 'SYMBOL'}${kindInfo.option !== null && '[:option]'}</code></h3>
<p>Sends ${kindInfo.description}.${kindInfo.option !== null && html` The option is the ${kindInfo.option}.`} Scope group <code>${kindInfo.scopeGroup}</code>, with the same requirements as its routes.</p>
<details><summary>All ${fields.length} fields of an event, with units</summary>${fieldTable(fields)}</details>
<details class="operation"><summary>Its GraphQL subscription</summary>
<p><a class="button" href="${graphiqlLink(source, variables)}">Open in GraphiQL</a></p>
<pre tabindex="0"><code>${source.trim()}</code></pre></details></section>`;
}

/** The same events over WebSockets. */
export const webSockets: Html = html`<section class="topic" id="websockets"><h3>WebSockets</h3>
<p>Over WebSockets, <code>/graphql</code> supports <code>graphql-transport-ws</code>, the protocol of the npm package <code>graphql-ws</code>, with the credential in
<code>connection_init</code>. <code>/v2/ws</code> sends protobuf frames (<a href="/v2/stream-protocol.proto">schema</a>) to clients that authenticate with a ticket of
<code>POST /v2/stream/ticket</code>: <code>{"op":"auth","ticket":"…","proto":3,"encoding":"protobuf"}</code>, then <code>{"op":"sub","id":"spy","topic":"spot","symbol":"SPY"}</code>.
Topics: <code>spot</code>, <code>index</code>, <code>stocks</code> (bars), <code>gex</code>, <code>chain</code>.</p></section>`;

/** The stream: an example, and its topics with their subscriptions. */
export function streamSection(shown: ShownStream): Html {
  const paths = shown.description.paths as Record<string, { get: DescribedStream }>;
  const { description, responses } = paths['/v2/stream']!.get;
  const events = responses['200']!.content['text/event-stream']['x-events'];
  const at = originText;
  return html`<section id="stream" class="group" aria-labelledby="stream-title"><h2 id="stream-title">Live streams</h2>
<p><code>GET /v2/stream?topics=…</code> ${prose(description)} In GraphQL, the same streams are subscriptions at <code>/graphql</code> for clients that
accept <code>text/event-stream</code>, and over <a href="#websockets">WebSockets</a>. Errors are those of routes: ${['400', '401', '403', '404', '429', '503'].map((status) => html`<a href="#error-${status}">${status}</a> `)}</p>
<pre tabindex="0"><code>curl -N -H "Authorization: Bearer $KEY" '${at}/v2/stream?topics=${streamTopics}'</code></pre>
<pre tabindex="0" class="answer"><code>${capturedExamples.stream.events.map(
    ({ event, id, data, omitted }) => `id: ${id}\nevent: ${event}\ndata: ${jsonText(data, omitted, 110)}\n\n`,
  )}</code></pre>
<p class="muted">The first events of this stream. On the wire, the data of each event is one line.</p>
${Object.entries(topicKinds).map((one) => topic(one, shown, events))}
${webSockets}
</section>`;
}
