import { type Request, type Response, Router } from 'express';
import type { EndpointServices } from '../access/endpoint-services.ts';
import { marketClock } from '../core/domain/market-clock.ts';
import type { SessionDate } from '../core/domain/market-time.ts';
import { requestLife } from '../platform/http/request-life.ts';
import { yieldToEventLoop } from '../platform/runtime/event-loop.ts';
import { methodNotAllowed, notFound } from '../platform/wire/failure.ts';
import { jsonBytes } from '../platform/wire/json-chunks.ts';
import type { CompiledRoute } from './contract/compiled-route.ts';
import { filledIn, type Standing, standingAt } from './contract/example.ts';
import type { JsonSchema } from './contract/json-schema.ts';
import { type Route, writtenPath } from './contract/route.ts';
import type { Column, Table } from './contract/table.ts';
import { callRoute } from './http/call.ts';
import { descriptionRouter, jsonType } from './http/description.ts';
import { sendBody } from './http/respond.ts';

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
      caller,
      texts,
      body: null,
      onEnd: life.onEnd,
      request,
      response,
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

/** A parameter of a widget, in the form of OpenBB Workspace. */
interface WidgetParam {
  paramName: string;
  label: string;
  description: string;
  type: 'text' | 'number' | 'boolean' | 'date';
  value: string | number | boolean | null;
  optional: boolean;
  options?: { label: string; value: string }[];
}

/** A widget: the table of a route. */
interface Widget {
  name: string;
  description: string;
  endpoint: string;
  category: string;
  subCategory: string;
  source: string[];
  type: 'table';
  gridData: { w: number; h: number };
  params: WidgetParam[];
  data: { table: { enableCharts: boolean; showAll: boolean; columnsDefs: object[] } };
}

/** A parameter as OpenAPI describes it. */
interface Parameter {
  name: string;
  required: boolean;
  description: string;
  schema: JsonSchema & { type?: unknown; enum?: unknown };
  example?: string | number;
}

/** Parameters that a table in a dashboard has no use for. */
const omitted = new Set(['cursor', 'format', 'tz', 'provenance', 'at']);
/** Parameters that are the date of a session. */
const dates: ReadonlySet<string> = new Set(['date', 'session']);

/** Words of a name: `net_gex` is `Net gex`. */
function words(name: string): string {
  const text = name.replaceAll(/[-_.]/g, ' ');
  return text.charAt(0).toUpperCase() + text.slice(1);
}

/** Name of a column in a row: OpenBB reads a dot as a path. */
const fieldOf = ({ name }: Pick<Column, 'name'>): string => name.replaceAll('.', '_');

function typeOf({ name, schema: { type } }: Parameter): WidgetParam['type'] {
  if (dates.has(name)) return 'date';
  if (type === 'integer' || type === 'number') return 'number';
  return type === 'boolean' ? 'boolean' : 'text';
}

/**
 * Value that a widget starts with: that of the route's own example, and of the symbol, which all share. A date is
 * today's, for which Workspace has a word.
 */
function firstValue(
  { name, required, example }: Parameter,
  { params, shown }: Route['example'],
  standing: Standing,
): WidgetParam['value'] {
  const text = params[name];
  if (dates.has(name)) return (text ?? shown.params?.[name]) === undefined ? null : '$currentDate';
  if (text !== undefined) return filledIn(text, standing);
  return required || name === 'symbol' ? (example ?? null) : null;
}

function widgetParam(parameter: Parameter, example: Route['example'], standing: Standing): WidgetParam {
  const { name, description, required, schema } = parameter;
  const choices = (schema.enum ?? []) as string[];
  return {
    paramName: name,
    label: words(name),
    description: dates.has(name) ? `${description} A day without a session yet: the last session.` : description,
    type: typeOf(parameter),
    value: firstValue(parameter, example, standing),
    optional: !required,
    ...(choices.length > 0 && { options: choices.map((value) => ({ label: words(value), value })) }),
  };
}

const cellTypes: Record<Column['type'], string> = {
  int32: 'number',
  int64: 'number',
  float64: 'number',
  bool: 'boolean',
  text: 'text',
  json: 'text',
};

const columnOf = (column: Column) => ({
  field: fieldOf(column),
  headerName: words(column.name),
  cellDataType: cellTypes[column.type],
});

/** The table that a widget shows: the first, unless the parameter `table` names another. */
function tableOf({ tables }: CompiledRoute, name: unknown): Table {
  return tables.tables.find((table) => table.name === name) ?? tables.tables[0]!;
}

/** The routes that are widgets: those that a key can read at once and whose answers have a table. */
function widgetRoutes(compiled: readonly CompiledRoute[]): CompiledRoute[] {
  return compiled.filter(({ route: { method, sunset, needs }, tables, stream }) => {
    const isRead = method === 'GET' && stream === undefined && !needs.endsWith('site-session');
    return isRead && sunset === undefined && tables.tables.length > 0;
  });
}

/** Path of the endpoint that answers a widget. */
const widgetPath = '/openbb';

function widgetOf(description: JsonSchema, compiled: CompiledRoute, standing: Standing): Widget {
  const { route } = compiled;
  const paths = description.paths as Record<string, Record<string, { parameters: Parameter[] }>>;
  const { parameters } = paths[writtenPath(route.path)]!.get!;
  const [category, subCategory = ''] = route.scopeGroup.split('.') as [string, string?];
  return {
    name: route.summary,
    description: route.description === '' ? route.summary : route.description,
    endpoint: `${widgetPath.slice(1)}/${route.name}`,
    category: words(category),
    subCategory: words(subCategory),
    source: ['Tapegraph'],
    type: 'table',
    gridData: { w: 20, h: 12 },
    params: parameters
      .filter(({ name }) => !omitted.has(name))
      .map((each) => widgetParam(each, route.example, standing)),
    data: {
      table: { enableCharts: true, showAll: true, columnsDefs: tableOf(compiled, null).columns.map(columnOf) },
    },
  };
}

/**
 * `/widgets.json` of an OpenBB Workspace backend. `description`: the OpenAPI document of the routes; `standing`: values
 * of the examples.
 */
function widgetsOf(
  description: JsonSchema,
  compiled: readonly CompiledRoute[],
  standing: Standing,
): Record<string, Widget> {
  return Object.fromEntries(
    widgetRoutes(compiled).map((each) => [each.route.name.replaceAll('-', '_'), widgetOf(description, each, standing)]),
  );
}

/** Symbol that the widgets of a dashboard share. */
const symbolGroup = 'Symbol';

/** `/apps.json`: a dashboard with a tab per group of routes. */
function appsOf(widgets: Readonly<Record<string, Widget>>): object[] {
  const isOfSymbol = (id: string) => widgets[id]!.params.some(({ paramName }) => paramName === 'symbol');
  const tabs = new Map<string, string[]>();
  for (const [id, { category, subCategory }] of Object.entries(widgets)) {
    const name = `${category} ${subCategory.toLowerCase()}`.trim();
    tabs.set(name, [...(tabs.get(name) ?? []), id]);
  }
  const layoutOf = (ids: readonly string[]) =>
    ids.map((id, index) => ({
      i: id,
      x: 20 * (index % 2),
      y: 12 * Math.floor(index / 2),
      ...widgets[id]!.gridData,
      groups: isOfSymbol(id) ? [symbolGroup] : [],
    }));
  return [
    {
      name: 'Tapegraph',
      description: 'Quotes, bars, option chains, dealer gamma, option flow and off-exchange activity.',
      img: '',
      img_dark: '',
      img_light: '',
      allowCustomization: true,
      tabs: Object.fromEntries(
        Array.from(tabs, ([name, ids]) => {
          const id = name.toLowerCase().replaceAll(' ', '-');
          return [id, { id, name, layout: layoutOf(ids) }];
        }),
      ),
      groups: [
        {
          name: symbolGroup,
          type: 'param',
          paramName: 'symbol',
          defaultValue: 'SPY',
          widgetIds: Object.keys(widgets).filter(isOfSymbol),
        },
      ],
      prompts: [],
    },
  ];
}
