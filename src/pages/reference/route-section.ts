import type { CompiledRoute } from '../../rest/contract/compiled-route.ts';
import type { JsonSchema } from '../../rest/contract/json-schema.ts';
import { readParams } from '../../rest/contract/params.ts';
import { type OwnTraits, usageGroups, writtenPath } from '../../rest/contract/route.ts';
import type { Needs } from '../../schema/field-options.ts';
import { type Html, html } from '../html.ts';
import { graphiqlLink } from '../links.ts';
import { usualOrigin, withOrigin } from '../origin.ts';
import type { Captured } from './example-answers.ts';
import type { ShownRequest } from './example-request.ts';
import { jsonText } from './json-text.ts';
import {
  answerSchemaOf,
  type Described,
  type DescribedField,
  type DescribedParameter,
  fieldsOf,
  parameterId,
  typeText,
} from './openapi-fields.ts';
import { snippetsOf } from './snippets.ts';

/**
 * The variables of a route's operation for texts of its parameters and a body, in the graph's form; null ones are
 * omitted.
 */
function graphVariables(
  { route, operation }: CompiledRoute,
  params: Readonly<Record<string, string>>,
  body: string | null,
): Record<string, unknown> {
  const values = { ...readParams(route.pathParams, params), ...readParams(route.queryParams, params) };
  const read = route.body && body !== null ? route.body.read(Buffer.from(body)) : undefined;
  const variables: Record<string, unknown> = {
    ...route.variables(values, read),
    protobuf: false,
    provenance: values.provenance ?? false,
  };
  return Object.fromEntries(
    operation.variables.flatMap((name) => {
      const value = Buffer.isBuffer(variables[name]) ? String(variables[name]) : (variables[name] ?? null);
      return value === null ? [] : [[name, value]];
    }),
  );
}

/** Fields of an answer, a body or an event, with types and units. */
export function fieldTable(fields: readonly DescribedField[]): Html {
  return html`<div class="scroll"><table class="fields"><thead><tr><th scope="col">Field</th><th scope="col">Type</th><th scope="col">What it is</th></tr></thead>
<tbody>${fields.map(
    ({ path, type, description, optional }) => html`<tr><th scope="row"><code>${path}</code></th>
<td>${type}${optional ? html`<br><small>not always there</small>` : null}</td><td>${description}</td></tr>`,
  )}</tbody></table></div>`;
}

/** A route with the content of its section. */
export interface ShownRoute {
  compiled: CompiledRoute;
  described: Described;
  /** The request in the code samples. */
  request: ShownRequest;
  /** A server's answer; null = not captured. */
  captured: Captured | null;
  /** The date on which the route ended; null = it is served. */
  endedOn: string | null;
}

const needsText: Record<Needs, string> = {
  any: 'Any key or site session.',
  symbol:
    'The min_tier of the symbol, and the non-professional declaration if the symbol requires it. /v2/symbols/{symbol} reports both.',
  flow: 'The pro tier, the non-professional declaration and access to the symbol.',
  'off-exchange': 'The basic tier, the non-professional declaration and access to the symbol.',
  'site-session': 'A site session; an API key is rejected.',
  'declared-site-session': 'A site session and the non-professional declaration; an API key is rejected.',
};

/** An operator's route may require more than its fields do. */
const ownNeeds = ({ tier }: OwnTraits) =>
  `${tier === 'free' ? 'Any key or site session' : `The ${tier} tier`}, and what the fields of its operation require.`;

function cachingText({ headers }: Captured, method: string): string {
  if (method !== 'GET') return 'Not cacheable (Cache-Control: no-store).';
  const tagged = headers.etag ? ' with an ETag: send it in If-None-Match to get 304 while nothing has changed' : '';
  return `The answer below has Cache-Control: ${headers['cache-control']}${tagged}.`;
}

const mediaOf = ({ responses }: Described) => Object.keys(responses[200]!.content);

function facts({ compiled: { route }, described, captured, endedOn }: ShownRoute): Html {
  const media = mediaOf(described);
  const rows: [string, Html][] = [
    ['Needs', html`${route.own ? ownNeeds(route.own) : needsText[route.needs]}`],
    ['Answers in', html`${media.map((one, index) => html`${index > 0 && ', '}<code>${one}</code>`)}`],
    ...(captured === null ? [] : [['Caching', html`${cachingText(captured, route.method)}`] satisfies [string, Html]]),
    ['Counted in', html`${usageGroups(route).map((group, index) => html`${index > 0 && ', '}<code>${group}</code>`)}`],
  ];
  if (route.inFlightLimited) rows.push(['In flight', html`Two requests per key at a time; more return 429.`]);
  if (route.sunset) {
    const until = new Date(route.sunset.atMs).toISOString().slice(0, 10);
    const state = endedOn === null ? `Available until ${until}` : `Ended on ${endedOn}: it returns 410`;
    rows.push([endedOn === null ? 'Deprecated' : 'Ended', html`${state}; use <code>${route.sunset.successor}</code>.`]);
  }
  return html`<dl class="facts">${rows.map(([name, text]) => html`<dt>${name}</dt><dd>${text}</dd>`)}</dl>`;
}

function parameters({ described, request }: ShownRoute): Html | null {
  if (described.parameters.length === 0) return null;
  const row = (parameter: DescribedParameter) => parameterRow(described.operationId, parameter, request.params);
  return html`<h4>Parameters</h4>
<div class="scroll"><table class="fields"><thead><tr><th scope="col">Name</th><th scope="col">Type</th><th scope="col">Description</th></tr></thead>
<tbody>${described.parameters.map(row)}</tbody></table></div>`;
}

function bodySection({ described: { requestBody } }: ShownRoute): Html | null {
  if (!requestBody) return null;
  const [[, { schema }]] = Object.entries(requestBody.content) as [[string, { schema: JsonSchema }]];
  const fields = fieldsOf(schema);
  const media = Object.keys(requestBody.content).map((name, index) => html`${index > 0 && ' or '}<code>${name}</code>`);
  return html`<h4>Body</h4>
<p>${requestBody.required ? 'Required' : 'Optional'}; ${media}. ${String(schema.description ?? '')}</p>
${fields.length > 0 ? fieldTable(fields) : null}`;
}

function errors({ described }: ShownRoute): Html {
  const statuses = Object.entries(described.responses).filter(([status]) => Number(status) >= 400);
  return html`<h4>Errors</h4><ul class="errors">${statuses.map(
    ([status, { description }]) => html`<li><a href="#error-${status}">${status}</a> ${description}</li>`,
  )}</ul>`;
}

/** Code samples in tabs: radio buttons, which work with the keyboard and without scripts. */
function code(shown: ShownRoute, id: string): Html {
  const { compiled, request } = shown;
  const snippets = snippetsOf({ method: compiled.route.method, origin: usualOrigin, ...request });
  return html`<div class="tabs" role="group" aria-label="Code example">
${snippets.map(
  ({ language }, index) =>
    html`<input type="radio" name="code-${id}" id="code-${id}-${index}" class="language-${index}"${index === 0 && ' checked'}><label for="code-${id}-${index}">${language}</label>`,
)}
<button type="button" class="quiet" data-copy="#${id} .tabs pre" data-needs-script>Copy</button>
${snippets.map(({ code }, index) => html`<pre class="code-${index}" tabindex="0"><code>${withOrigin(code)}</code></pre>`)}
</div>`;
}

function capturedAnswer(captured: Captured | null): Html {
  if (captured === null) {
    return html`<h4>Answer</h4>
<p class="muted">No example answer has been captured: run <code>node scripts/capture-examples.ts</code>.</p>`;
  }
  const { method, address, body, status, answer, omitted } = captured;
  return html`<h4>Answer <span class="status">${status}</span></h4>
<p class="muted asked"><code>${method} ${address}</code>${body === null ? null : html` with <code>${body.trim()}</code>`}</p>
<pre class="answer" tabindex="0"><code>${jsonText(answer, omitted)}</code></pre>`;
}

function answer({ compiled, captured, described }: ShownRoute): Html {
  const fields = fieldsOf(answerSchemaOf(described));
  return html`${compiled.route.own ? html`<h4>Answer</h4>` : capturedAnswer(captured)}
<details><summary>All ${fields.length} fields, with units</summary>${fieldTable(fields)}</details>`;
}

function operationSection({ compiled, request }: ShownRoute): Html {
  const variables = graphVariables(compiled, request.params, request.body);
  const { source } = compiled.operation;
  return html`<details class="operation"><summary>Its GraphQL operation</summary>
<p class="row"><a class="button" href="${graphiqlLink(source, variables)}">Open in GraphiQL</a></p>
<pre tabindex="0"><code>${source.trim()}</code></pre>
<p class="muted">Variables</p><pre tabindex="0"><code>${jsonText(variables)}</code></pre></details>`;
}

/** The requests of a route, and its answer. */
const served = (shown: ShownRoute, id: string): Html => html`
${code(shown, id)}
<div class="try" data-needs-script><button type="button" data-try="${id}">Try it</button></div>
${answer(shown)}
${operationSection(shown)}
`;

/** The section of a route: its purpose, parameters, answer and operation. */
export function routeSection(shown: ShownRoute): Html {
  const { compiled, described } = shown;
  const { route } = compiled;
  const id = described.operationId;
  const { body, contentType } = shown.request;
  return html`<section class="route" id="${id}" aria-labelledby="${id}-title" data-method="${route.method}"
  data-path="${route.path}" data-needs="${route.needs}" data-media="${mediaOf(described).join(' ')}"${
    body !== null && html` data-body="${body}" data-content-type="${contentType}"`
  }>
<h3 id="${id}-title"><span class="method ${route.method.toLowerCase()}">${route.method}</span> <code>${writtenPath(route.path)}</code>
<a class="anchor" href="#${id}">${route.summary}</a></h3>
<div class="columns"><div class="description">
<p>${route.description}</p>
${facts(shown)}
${parameters(shown)}
${bodySection(shown)}
${errors(shown)}
</div><div class="shown">${shown.endedOn === null && served(shown, id)}</div></div>
</section>`;
}

/** Parameters with a symbol of the registry, and those with several. */
const symbolNames: readonly string[] = ['symbol', 'underlying'];
const symbolsName = 'symbols';
/** Parameters with a past or present session; other dates can be in the future. */
const sessionNames: readonly string[] = ['session', 'date'];

/** Kind of a parameter's form field, for `client/try-fields.ts`. */
function kindOf({ name, schema }: DescribedParameter): string {
  if (schema.format === 'date') return sessionNames.includes(name) ? 'session' : 'date';
  if (symbolNames.includes(name)) return 'symbol';
  if (name === symbolsName) return 'symbols';
  return schema.type === 'integer' || schema.type === 'number' ? 'number' : 'text';
}

function valuesOf({ enum: values, type }: DescribedParameter['schema']): readonly unknown[] | null {
  if (type === 'boolean') return ['true', 'false'];
  return (values as unknown[] | undefined) ?? null;
}

/** The row of a parameter in a route's table. Its data attributes describe the form field that tries the route. */
function parameterRow(
  operation: string,
  parameter: DescribedParameter,
  examples: Readonly<Record<string, string>>,
): Html {
  const { name, in: place, required, description, schema, example } = parameter;
  const values = valuesOf(schema);
  const usual = schema.default === undefined ? null : String(schema.default);
  const data = html`data-parameter="${name}" data-in="${place}" data-kind="${kindOf(parameter)}" data-example="${examples[name] ?? ''}"
  ${required && ' data-required'}${values && html` data-values="${values.join(' ')}"`}
  ${usual !== null && html` data-default="${usual}"`}`;
  return html`<tr id="${parameterId(operation, name)}" ${data}>
<th scope="row"><code>${name}</code>${required ? html` <small class="must">required</small>` : null}</th>
<td>${typeText(schema)}${usual === null ? null : html`<br><small>default <code>${usual}</code></small>`}</td>
<td>${description}${example === undefined ? null : html` <small>e.g. <code>${String(example)}</code></small>`}</td></tr>`;
}
