import { type Html, html } from '../html.ts';
import { type DescribedParameter, parameterId, typeText } from './openapi-fields.ts';

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
export function parameterRow(
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
