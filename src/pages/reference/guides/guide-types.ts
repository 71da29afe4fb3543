import type { CompiledRoute } from '../../../rest/contract/compiled-route.ts';
import type { PublishedLimits } from '../../guide-limits.ts';
import { type Html, html, prose } from '../../html.ts';

/** Parts of a guide. */
export interface GuideParts {
  /** The server's clock, epoch ms. */
  nowMs: number;
  limits: PublishedLimits;
  compiled: readonly CompiledRoute[];
  /** The sample market's key, if the request may see it. */
  sampleKey: string | null;
}

/** A section of a guide, with a heading. */
export interface GuideSection {
  id: string;
  title: string;
  /** Synonyms of the subject, which readers search for and the text does not use. */
  alsoCalled?: string;
  body: Html;
}

/** A how-to page below `/docs`. */
export interface Guide {
  path: string;
  title: string;
  /** One sentence, for the top of the page, search engines and the search. */
  about: string;
  /** Synonyms of the subject, which readers search for and the text does not use. */
  alsoCalled: string;
  sections: (parts: GuideParts) => readonly GuideSection[];
}

/** A table of texts; words between backticks are code. The first cell of a row is its heading. */
export function table(head: readonly string[], rows: readonly (readonly string[])[]): Html {
  return html`<div class="scroll" tabindex="0"><table class="fields"><thead><tr>${head.map((cell) => html`<th scope="col">${cell}</th>`)}</tr></thead>
<tbody>${rows.map(([first, ...rest]) => html`<tr><th scope="row">${prose(first!)}</th>${rest.map((cell) => html`<td>${prose(cell)}</td>`)}</tr>`)}</tbody></table></div>`;
}
