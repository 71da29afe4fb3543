import type { Request } from 'express';
import { type Html, html } from './html.ts';

/** The origin of a request, for commands to copy; behind a proxy the page's script corrects it. */
export function originOf(request: Request): string {
  const host = request.headers.host ?? '';
  return /^[\w.:[\]-]{1,255}$/.test(host) ? `${request.protocol}://${host}` : 'http://127.0.0.1:4000';
}

/** The origin in a text of the page; scripts correct it if the address bar differs. */
export function originText(origin: string): Html {
  return html`<span data-origin>${origin}</span>`;
}
