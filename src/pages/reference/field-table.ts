import { type Html, html } from '../html.ts';
import type { DescribedField } from './openapi-fields.ts';

/** Fields of an answer, a body or an event, with types and units. */
export function fieldTable(fields: readonly DescribedField[]): Html {
  return html`<div class="scroll"><table class="fields"><thead><tr><th scope="col">Field</th><th scope="col">Type</th><th scope="col">What it is</th></tr></thead>
<tbody>${fields.map(
    ({ path, type, description, optional }) => html`<tr><th scope="row"><code>${path}</code></th>
<td>${type}${optional ? html`<br><small>not always there</small>` : null}</td><td>${description}</td></tr>`,
  )}</tbody></table></div>`;
}
