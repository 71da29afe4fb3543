import type { CompiledRoute } from '../contract/compiled-route.ts';
import { filledIn, type Standing } from '../contract/example.ts';
import type { JsonSchema } from '../contract/json-schema.ts';
import type { Route } from '../contract/route.ts';
import { writtenPath } from '../contract/route.ts';
import type { Column, Table } from '../contract/table.ts';

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
export const dates: ReadonlySet<string> = new Set(['date', 'session']);

/** Words of a name: `net_gex` is `Net gex`. */
function words(name: string): string {
  const text = name.replaceAll(/[-_.]/g, ' ');
  return text.charAt(0).toUpperCase() + text.slice(1);
}

/** Name of a column in a row: OpenBB reads a dot as a path. */
export const fieldOf = ({ name }: Pick<Column, 'name'>): string => name.replaceAll('.', '_');

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
export function tableOf({ tables }: CompiledRoute, name: unknown): Table {
  return tables.tables.find((table) => table.name === name) ?? tables.tables[0]!;
}

/** The routes that are widgets: those that a key can read at once and whose answers have a table. */
export function widgetRoutes(compiled: readonly CompiledRoute[]): CompiledRoute[] {
  return compiled.filter(({ route: { method, sunset, needs }, tables, stream }) => {
    const isRead = method === 'GET' && stream === undefined && !needs.endsWith('site-session');
    return isRead && sunset === undefined && tables.tables.length > 0;
  });
}

/** Path of the endpoint that answers a widget. */
export const widgetPath = '/openbb';

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
export function widgetsOf(
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
export function appsOf(widgets: Readonly<Record<string, Widget>>): object[] {
  const isOfSymbol = (id: string) => widgets[id]!.params.some(({ paramName }) => paramName === 'symbol');
  const tabs = new Map<string, string[]>();
  for (const [id, { category, subCategory }] of Object.entries(widgets)) {
    const name = `${category} ${subCategory.toLowerCase()}`.trim();
    tabs.set(name, [...(tabs.get(name) ?? []), id]);
  }
  const layoutOf = (ids: readonly string[]) =>
    ids.map((id, index) => ({
      i: id,
      ...{ x: 20 * (index % 2), y: 12 * Math.floor(index / 2) },
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
