import type { Request, Response } from 'express';
import { allowSharedCaching } from '../platform/http/cache-headers.ts';
import { keptBody } from '../rest/http/description.ts';
import { type Body, sendBody } from '../rest/http/respond.ts';
import type { Assets } from './assets.ts';
import { type Html, html, trusted } from './html.ts';
import { siteLinks } from './links.ts';
import { marketNote, type SiteState } from './market-note.ts';

/** A page's content; the shell adds head, header and scripts. */
export interface Page {
  title: string;
  /** One sentence for search engines and previews. */
  description: string;
  /** Address of the page in the header's links, e.g. `/docs`. */
  current: string;
  /** Content below the header; it contains its own `<main id="main">`. */
  body: Html;
  /** Style sheets besides `site.css`, by their paths among the assets. */
  styles?: readonly string[];
  /** Modules to run, by their paths among the assets. */
  scripts?: readonly string[];
}

/** A page with its own document: an editor, whose scripts load styles, fonts and workers. Its own scripts are files. */
export interface EditorPage {
  document: Html;
}

const links = siteLinks.filter(({ inHeader }) => inHeader);

const sameSection = (one: string, other: string) => one.split('/')[1] === other.split('/')[1];

/**
 * The header of all pages; `current` = the address of the page. Beside the key field it offers the sample market's key.
 */
export function header(current: string, site: SiteState): Html {
  return html`<a class="skip" href="#main">Skip to the content</a>
<header class="top">
  <a class="brand" href="/"${current === '/' && trusted(' aria-current="page"')}>
    <svg viewBox="0 0 24 24" width="22" height="22" aria-hidden="true"><path d="M2 17h3l3-9 4 12 4-16 3 13h3" fill="none" stroke="currentColor" stroke-width="2.2" stroke-linejoin="round" stroke-linecap="round"/></svg>
    Tapegraph</a>
  <nav aria-label="Main">${links.map(
    ({ to, name }) => html`<a href="${to}"${sameSection(to, current) && trusted(' aria-current="page"')}>${name}</a>`,
  )}</nav>
  <form class="key" id="key-form" autocomplete="off" data-needs-script>
    <label for="key-input">API key</label>
    <input id="key-input" type="password" placeholder="paste a key" spellcheck="false" autocomplete="off">
    ${site.sample?.key != null && html`<button type="button" id="key-sample" title="Use the key of the sample market">Use the sample key</button>`}
    <button type="button" id="key-forget" title="Remove the key from this browser">Forget</button>
  </form>
  <button class="theme" id="theme-switch" type="button" aria-label="Theme" data-needs-script>◐</button>
</header>
${marketNote(site)}`;
}

/** The script that runs before the page is drawn. It has the sample market's key, for itself and later scripts. */
export function beforePaint(assets: Assets, site: SiteState): Html {
  const key = site.sample?.key ?? null;
  return html`<script src="${assets.address('client/before-paint.js')}"${key !== null && html` data-sample-key="${key}"`}></script>`;
}

/** Security policy of every page: it may query this server, and must not be framed. */
const anyPage = [
  "default-src 'none'",
  "img-src 'self' data:",
  "connect-src 'self'",
  "form-action 'self'",
  "base-uri 'none'",
  "frame-ancestors 'none'",
];

/** Security policy of a page: it may load files of this server. */
const pageSecurity = [...anyPage, "script-src 'self'", "style-src 'self'"].join('; ');
const editorSecurity = [...anyPage, "script-src 'self'", "style-src 'self' 'unsafe-inline'"].join('; ');

/**
 * The whole document of a page. All its modules are listed, so that they load in parallel and not level by level. They
 * come after the style sheets, for which the first paint waits.
 */
export function documentOf(page: Page, assets: Assets, site: SiteState): string {
  const { title, description, current, body, styles = [] } = page;
  const scripts = ['client/site-header.js', ...(page.scripts ?? [])];
  const modules = assets.modulesOf(scripts);
  const document = html`<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<title>${title}</title>
<meta name="description" content="${description}">
<link rel="icon" href="${assets.address('icon.svg')}" type="image/svg+xml">
${['site.css', ...styles].map((path) => html`<link rel="stylesheet" href="${assets.address(path)}">\n`)}${beforePaint(assets, site)}
${scripts.map((path) => html`<script type="module" src="${assets.address(path)}" fetchpriority="low"></script>\n`)}${modules.map((address) => html`<link rel="modulepreload" href="${address}" fetchpriority="low">\n`)}</head>
<body>
${header(current, site)}
${body}
</body>
</html>
`;
  return document.markup;
}

/** Context of a page. */
export interface PageSurroundings {
  assets: Assets;
  site: SiteState;
}

/** Browsers give a page none of the device's features, and no window that another site opened. */
const isolation = new Map([
  ['Cross-Origin-Opener-Policy', 'same-origin'],
  [
    'Permissions-Policy',
    ['accelerometer', 'camera', 'geolocation', 'gyroscope', 'magnetometer', 'microphone', 'midi', 'payment', 'usb']
      .map((feature) => `${feature}=()`)
      .join(', '),
  ],
]);

const contentType = 'text/html; charset=utf-8';

/** A page made into a body, whose compressed forms are kept. `path`: its address. */
export function pageBody(path: string, page: Page, { assets, site }: PageSurroundings): Promise<Body> {
  return keptBody(path, { contentType, text: documentOf(page, assets, site) });
}

/** An editor made into a body, as a page. */
export function editorBody(path: string, { document }: EditorPage): Promise<Body> {
  return keptBody(path, { contentType, text: document.markup });
}

/** Sends a page with ETag and compression, as answers of the routes have. */
export async function sendPage(request: Request, response: Response, body: Body, site: SiteState): Promise<void> {
  response.setHeader('Content-Security-Policy', pageSecurity);
  response.setHeaders(isolation);
  response.vary('Accept');
  // The header offers the sample market's key.
  const isSecret = site.sample?.key != null;
  if (!isSecret) allowSharedCaching(response, 'no-cache');
  await sendBody(request, response, isSecret ? { ...body, etag: null } : body);
}

/** Sends an editor. It shares its URL with answers that depend on a credential and are never stored. */
export async function sendEditor(request: Request, response: Response, body: Body): Promise<void> {
  response.setHeader('Content-Security-Policy', editorSecurity);
  response.setHeaders(isolation);
  response.vary('Accept');
  await sendBody(request, response, { ...body, etag: null });
}
