import { type Html, html } from '../../html.ts';
import { prose } from '../../prose.ts';

/** A table of texts; words between backticks are code. The first cell of a row is its heading. */
export function table(head: readonly string[], rows: readonly (readonly string[])[]): Html {
  return html`<div class="scroll" tabindex="0"><table class="fields"><thead><tr>${head.map((cell) => html`<th scope="col">${cell}</th>`)}</tr></thead>
<tbody>${rows.map(([first, ...rest]) => html`<tr><th scope="row">${prose(first!)}</th>${rest.map((cell) => html`<td>${prose(cell)}</td>`)}</tr>`)}</tbody></table></div>`;
}
