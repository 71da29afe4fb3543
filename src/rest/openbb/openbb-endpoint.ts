import { type Request, type Response, Router } from 'express';
import type { EndpointServices } from '../../access/endpoint-services.ts';
import { marketClock } from '../../core/domain/market-clock.ts';
import type { SessionDate } from '../../core/domain/market-time.ts';
import { requestLife } from '../../platform/http/request-life.ts';
import { yieldToEventLoop } from '../../platform/runtime/event-loop.ts';
import { methodNotAllowed, notFound } from '../../platform/wire/failure.ts';
import { jsonBytes } from '../../platform/wire/json-bytes.ts';
import type { CompiledRoute } from '../contract/compiled-route.ts';
import { standingAt } from '../contract/example.ts';
import type { JsonSchema } from '../contract/json-schema.ts';
import type { Table } from '../contract/table.ts';
import { callRoute } from '../http/call.ts';
import { descriptionRouter, jsonType } from '../http/description.ts';
import { sendBody } from '../http/respond.ts';
import { appsOf, dates, fieldOf, tableOf, widgetPath, widgetRoutes, widgetsOf } from './widgets.ts';

/**
 * The parameters that a route knows, as far as they have a value: Workspace adds some of its own. Its word for today is
 * a date on which no session may have begun: a date after `lastSession` is that session.
 */
function textsOf({ route }: CompiledRoute, query: Request['query'], lastSession: SessionDate): Record<string, unknown> {
  const names = [...Object.keys(route.pathParams), ...Object.keys(route.queryParams)].filter((name) => query[name]);
  const textOf = (name: string) => (dates.has(name) && String(query[name]) > lastSession ? lastSession : query[name]);
  return Object.fromEntries(names.map((name) => [name, textOf(name)]));
}

/** The rows of a table as objects without other objects in them. */
async function rowsOf({ columns, pieces }: Table, data: unknown): Promise<object[]> {
  const fields = columns.map(fieldOf);
  const rows: object[] = [];
  for (const piece of pieces(data)) {
    for (const cells of piece) rows.push(Object.fromEntries(fields.map((field, index) => [field, cells[index]])));
    await yieldToEventLoop();
  }
  return rows;
}

/** Sends the table of a route, by the rules of the route: credential, rate, entitlement, limits. */
async function sendWidget(
  services: EndpointServices,
  compiled: CompiledRoute | undefined,
  request: Request,
  response: Response,
): Promise<void> {
  if (!compiled) throw notFound(`${request.method} ${request.path}`);
  const caller = await services.admission.identify(request);
  const life = requestLife(response);
  try {
    const texts = textsOf(compiled, request.query, marketClock(services.now()).sessionDate);
    const { data } = await callRoute(services, compiled, {
      ...{ caller, texts, body: null, onEnd: life.onEnd },
      ...{ request, response },
    });
    const bytes = await jsonBytes(await rowsOf(tableOf(compiled, texts.table), data));
    await sendBody(request, response, { bytes, contentType: jsonType, etag: null });
  } finally {
    life.end();
  }
}

/**
 * The backend that OpenBB Workspace reads: `/widgets.json` and `/apps.json` describe the routes that have tables, and
 * `/openbb/NAME` answers each with the rows of its table.
 */
export function openbbRouter(
  services: EndpointServices,
  compiled: readonly CompiledRoute[],
  description: JsonSchema,
): Router {
  const router = Router({ caseSensitive: true });
  const byName = new Map(widgetRoutes(compiled).map((each) => [each.route.name, each]));
  const widgets = () => widgetsOf(description, compiled, standingAt(services.now()));
  const described = (make: () => unknown) => ({
    contentType: jsonType,
    make: () => JSON.stringify(make()),
    state: () => marketClock(services.now()).sessionDate,
  });
  router.use(
    descriptionRouter({ '/widgets.json': described(widgets), '/apps.json': described(() => appsOf(widgets())) }),
  );
  router.get(`${widgetPath}/:name`, (request, response) =>
    sendWidget(services, byName.get(request.params.name), request, response),
  );
  router.all(`${widgetPath}/:name`, (request) => {
    throw methodNotAllowed(request.method, ['GET', 'HEAD']);
  });
  return router;
}
