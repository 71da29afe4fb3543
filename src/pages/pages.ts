import { type Request, type Response, Router } from 'express';
import { methodNotAllowed } from '../wire/failure.ts';
import type { Assets } from './assets.ts';
import { dashboardPage } from './dashboard/dashboard-page.ts';
import { graphiqlPage } from './graphiql/graphiql-page.ts';
import { landingPage } from './landing-page.ts';
import type { SiteState } from './market-note.ts';
import { missingPage } from './missing.ts';
import { type JsonInstead, type Page, sendPage } from './page-document.ts';
import type { PagesParts } from './pages-dependencies.ts';
import { guidePage } from './reference/guides/guide-page.ts';
import { guides } from './reference/guides/guides.ts';
import { referencePage } from './reference/reference-page.ts';

/** Builds the page of an address for a request; thrown values are answered like any failure. */
type PageMaker = (
  parts: PagesParts,
  request: Request,
  site: SiteState,
  assets: Assets,
) => Page | JsonInstead | Promise<Page | JsonInstead>;

/** The graph's address: browsers get GraphiQL there, other clients the graph's answer. */
const graphAddress = '/graphql';

/** The pages by their addresses. */
const pages: Readonly<Record<string, PageMaker>> = {
  '/': landingPage,
  '/docs': referencePage(),
  ...Object.fromEntries(guides.map((guide) => [guide.path, guidePage(guide)])),
  '/dashboard': dashboardPage,
  '/dashboard/:symbol': dashboardPage,
};

const siteOf = async ({ sample, simulated, now }: PagesParts, request: Request): Promise<SiteState> => ({
  sample: await sample(request),
  simulated: await simulated(),
  nowMs: now(),
});

/** The web pages, and their files. They require no credential; the pages query the graph with the reader's key. */
export function pagesRouter(parts: PagesParts, assets: Assets): Router {
  const router = Router({ caseSensitive: true }).use(assets.router);
  // Accepts every method: Express would answer OPTIONS with the page's methods only.
  router.all(graphAddress, async (request, response, next) => {
    if (request.method !== 'GET' && request.method !== 'HEAD') return next();
    const site = await siteOf(parts, request);
    const page = graphiqlPage(parts, request, assets, site);
    if (page === null) next();
    else await sendPage(request, response, page, { assets, site });
  });
  for (const [path, make] of Object.entries(pages)) {
    router.get(path, async (request: Request, response: Response) => {
      const site = await siteOf(parts, request);
      await sendPage(request, response, await make(parts, request, site, assets), { assets, site });
    });
    router.all(path, (request) => {
      throw methodNotAllowed(request.method, ['GET', 'HEAD']);
    });
  }
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
    await sendPage(request, response, missingPage(request.path), { assets, site });
  };
}
