/** Markup that is safe to send: external text is escaped. */
export interface Html {
  readonly markup: string;
}

/** Parts of a template: text is escaped, markup is not, lists are joined, and null, undefined and false are omitted. */
type HtmlPart = Html | string | number | null | undefined | false | readonly HtmlPart[];

const entities: Record<string, string> = { '&': '&amp;', '<': '&lt;', '>': '&gt;', '"': '&quot;', "'": '&#39;' };

/** Text escaped for elements and for quoted attributes. */
function escaped(text: string): string {
  return text.replace(/[&<>"']/g, (character) => entities[character]!);
}

function markupOf(part: HtmlPart): string {
  if (part === null || part === undefined || part === false) return '';
  if (typeof part === 'string' || typeof part === 'number') return escaped(String(part));
  if ('markup' in part) return part.markup;
  return part.map(markupOf).join('');
}

/** Markup from a template: html`<p>${text}</p>`. Attributes with a value must be quoted. */
export function html(strings: TemplateStringsArray, ...parts: readonly HtmlPart[]): Html {
  return { markup: strings.reduce((markup, string, index) => markup + markupOf(parts[index - 1]) + string) };
}

/** Markup from another source that is known to be safe. */
export function trusted(markup: string): Html {
  return { markup };
}

/** Text in which words between backticks are code. */
export function prose(text: string): Html {
  return html`${text.split('`').map((part, index) => (index % 2 === 1 ? html`<code>${part}</code>` : part))}`;
}
