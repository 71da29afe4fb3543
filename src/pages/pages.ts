import { type Request, type Response, Router } from 'express';
import { methodNotAllowed } from '../domain/failure.ts';
import type { JsonSchema } from '../rest/contract/answer-schema.ts';
import type { CompiledRoute } from '../rest/http/router.ts';
import type { StreamOperations } from '../rest/stream/stream.ts';
import type { Assets } from './assets.ts';
import { dashboardPage } from './dashboard/page.ts';
import { graphiqlPage } from './graphiql/graphiql.ts';
import { landingPage } from './landing.ts';
import { referencePage } from './reference/reference.ts';
import { type JsonInstead, type Page, sendPage } from './shell.ts';

/** What pages show of the server they are served by. */
export interface PagesParts {
  /** The routes, and the OpenAPI document of them. */
  compiled: readonly CompiledRoute[];
  description: JsonSchema;
  /** The operations of the topics of the stream. */
  streams: StreamOperations;
  /** The server's clock, epoch ms. */
  now: () => number;
  /** A key that reads the sample market, for who may be shown one: see `ServerParts`. */
  sampleKey: (request: Request) => Promise<string | null>;
  /** The ticker the dashboard begins with. */
  firstSymbol: () => Promise<string>;
}

/** Makes the page of an address from the request; what it throws is answered as any failure is. */
type PageMaker = (parts: PagesParts, request: Request) => Page | JsonInstead | Promise<Page | JsonInstead>;

/** The graph's own address: browsers get GraphiQL there, everybody else what the graph answers. */
const graphAddress = '/graphql';

/** The pages by their addresses. */
const pages: Readonly<Record<string, PageMaker>> = {
  '/': landingPage,
  '/docs': referencePage(),
  '/dashboard': dashboardPage,
  '/dashboard/:symbol': dashboardPage,
};

/** The pages for people, and the files they load. No credential is asked for; the pages ask the graph under the reader's key. */
export function pagesRouter(parts: PagesParts, assets: Assets): Router {
  const router = Router({ caseSensitive: true }).use(assets.router);
  router.get(graphAddress, async (request, response, next) => {
    const page = graphiqlPage(parts, request, assets);
    if (page === null) next();
    else await sendPage(request, response, page, assets);
  });
  for (const [path, make] of Object.entries(pages)) {
    router.get(path, async (request: Request, response: Response) => {
      await sendPage(request, response, await make(parts, request), assets);
    });
    router.all(path, (request) => {
      throw methodNotAllowed(request.method, ['GET', 'HEAD']);
    });
  }
  return router;
}
