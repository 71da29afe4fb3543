import { type Request, type Response, Router } from 'express';
import { LRUCache } from 'lru-cache';
import { methodNotAllowed } from '../platform/wire/failure.ts';
import { standingAt } from '../rest/contract/example.ts';
import type { Body } from '../rest/http/respond.ts';
import type { Assets } from './assets.ts';
import { dashboardPage } from './dashboard/dashboard-page.ts';
import { asksForEditor, graphiqlPage } from './graphiql/graphiql-page.ts';
import { html } from './html.ts';
import { addresses, landingPage } from './landing-page.ts';
import { siteLinks } from './links.ts';
import { marketNote, type SiteState } from './market-note.ts';
import { editorBody, type Page, pageBody, sendEditor, sendPage } from './page-document.ts';
import type { PagesParts } from './pages-dependencies.ts';
import { guidePage } from './reference/guides/guide-page.ts';
import { guides } from './reference/guides/guides.ts';
import { referencePage } from './reference/reference-page.ts';

/** Builds the page of an address; thrown values are answered like any failure. */
type PageMaker = (parts: PagesParts, site: SiteState, assets: Assets) => Page | Promise<Page>;

/** The graph's address: browsers get GraphiQL there, other clients the graph's answer. */
const graphAddress = '/graphql';

/** The pages that show the server's state alone, the same to all. */
const keptPages: Readonly<Record<string, PageMaker>> = {
  '/': landingPage,
  '/docs': referencePage(),
  ...Object.fromEntries(guides.map((guide) => [guide.path, guidePage(guide)])),
};

const hourMs = 3_600_000;
/** Number of pages with something of their address that are kept: symbols, documents. */
const mostAddressed = 64;

/**
 * Pages made once for each state of the server that they show, and kept compressed: anybody may ask for them, under any
 * name of the host. One with the sample market's key is kept beside the one without.
 */
class KeptPages {
  readonly #parts: PagesParts;
  readonly #bodies = new Map<string, { state: string; body: Promise<Body> }>();
  readonly #addressed = new LRUCache<string, Promise<Body>>({ max: mostAddressed });

  constructor(parts: PagesParts) {
    this.#parts = parts;
  }

  /** All that pages show besides the routes: those have parts of their own. */
  async #stateOf(site: SiteState, showsSymbols: boolean): Promise<string> {
    const symbols = showsSymbols ? await this.#parts.firstSymbols() : [];
    const stored = showsSymbols ? await this.#parts.stored() : null;
    const { nowMs, ...shown } = site;
    const note = marketNote(site)?.markup;
    return JSON.stringify([shown, note, symbols, stored, standingAt(nowMs), Math.floor(nowMs / hourMs)]);
  }

  /** A page that shows the server's state alone. */
  async body(path: string, site: SiteState, make: () => Promise<Body>): Promise<Body> {
    const state = await this.#stateOf(site, path === '/');
    const slot = `${path} ${site.sample?.key != null}`;
    const kept = this.#bodies.get(slot);
    if (kept?.state === state) return kept.body;
    const body = make();
    this.#bodies.set(slot, { state, body });
    body.catch(() => this.#bodies.delete(slot));
    return body;
  }

  /** A page that also shows something of its address; those asked for last are kept. */
  async addressed(request: Request, site: SiteState, make: () => Promise<Body>): Promise<Body> {
    const key = `${request.originalUrl} ${await this.#stateOf(site, true)}`;
    const body = this.#addressed.get(key) ?? make();
    this.#addressed.set(key, body);
    body.catch(() => this.#addressed.delete(key));
    return body;
  }
}

const siteOf = async ({ sample, now }: PagesParts, request: Request): Promise<SiteState> => ({
  sample: await sample(request),
  nowMs: now(),
});

/** The web pages, and their files. They require no credential; the pages query the graph with the reader's key. */
export function pagesRouter(parts: PagesParts, assets: Assets): Router {
  const router = Router({ caseSensitive: true }).use(assets.router);
  const kept = new KeptPages(parts);
  // Accepts every method: Express would answer OPTIONS with the page's methods only.
  router.all(graphAddress, async (request, response, next) => {
    if (request.method !== 'GET' && request.method !== 'HEAD') return next();
    if (!asksForEditor(parts, request)) return next();
    const site = await siteOf(parts, request);
    const make = async () => editorBody(request.path, graphiqlPage(parts, request, assets, site));
    await sendEditor(request, response, await kept.addressed(request, site, make));
  });
  for (const [path, make] of Object.entries(keptPages))
    router.get(path, async (request: Request, response: Response) => {
      if (path === '/' && request.accepts(['html', 'json']) === 'json') return void response.json(addresses());
      const site = await siteOf(parts, request);
      const made = async () => pageBody(path, await make(parts, site, assets), { assets, site });
      await sendPage(request, response, await kept.body(path, site, made), site);
    });
  const dashboards = ['/dashboard', '/dashboard/:symbol'];
  router.get(dashboards, async (request: Request, response: Response) => {
    const site = await siteOf(parts, request);
    const make = async () => pageBody(request.path, await dashboardPage(parts, request, site), { assets, site });
    await sendPage(request, response, await kept.addressed(request, site, make), site);
  });
  router.all([...Object.keys(keptPages), ...dashboards], (request) => {
    throw methodNotAllowed(request.method, ['GET', 'HEAD']);
  });
  return router;
}

/**
 * Answers a browser at an unknown path with a page that has the failure's status. Other clients get the error envelope.
 */
export function missingPages(parts: PagesParts, assets: Assets) {
  return async (request: Request, response: Response, next: () => void): Promise<void> => {
    // Browsers identify navigations by a header; other requests get JSON.
    const opensPage = request.method === 'GET' && /text\/html/.test(request.headers.accept ?? '');
    if (!opensPage || request.path.startsWith('/v2/')) return next();
    const site = await siteOf(parts, request);
    response.status(404);
    const body = await pageBody(request.path, missingPage(request.path), { assets, site });
    await sendPage(request, response, body, site);
  };
}

/** The page for an unknown path: it names the path and links to the existing pages. */
function missingPage(path: string): Page {
  return {
    title: 'Not found · Tapegraph',
    description: 'There is no page at this address.',
    current: path,
    body: html`<main id="main" class="missing">
<h1>Page not found</h1>
<p>There is no page at <code>${path}</code>.</p>
<ul>${siteLinks
      .filter(({ inHeader }) => inHeader)
      .map(({ to, name, what }) => html`<li><a href="${to}">${name}</a>: ${what}</li>`)}</ul>
</main>`,
  };
}
