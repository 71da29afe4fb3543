import { type Html, html } from './html.ts';

/**
 * The origin in commands to copy: that of a server started with the defaults. Scripts of the page show that of the
 * address bar; the server does not, so that one page serves whichever host is asked for.
 */
export const usualOrigin = 'http://127.0.0.1:4000';

/** The origin in a text of the page, which scripts correct. */
export const originText: Html = html`<span data-origin>${usualOrigin}</span>`;

/** A text with the usual origin, in which scripts correct it. */
export function withOrigin(text: string): Html {
  return html`${text.split(usualOrigin).map((part, i) => html`${i > 0 && originText}${part}`)}`;
}
