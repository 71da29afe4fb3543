import {
  type GraphQLInputType,
  type GraphQLSchema,
  isNonNullType,
  type NamedTypeNode,
  type OperationDefinitionNode,
  typeFromAST,
} from 'graphql';
import type { Caller } from '../../access/caller.ts';
import { isMarketGroup } from '../../core/domain/screener.ts';
import type { WeighedOperation } from '../../graphql/limits/weighed-operation.ts';
import { answerSchema } from './answer-schema.ts';
import { provenanceParam } from './envelope.ts';
import type { JsonSchema } from './json-schema.ts';
import {
  type ReadOperation,
  type StoredOperation,
  storedOperation,
  validOperation,
  writtenOperation,
} from './operation.ts';
import { type Params, tableName } from './params.ts';
import { type Route, type RouteRequests, type RouteSettings, routeRow } from './route.ts';
import { completed } from './selection.ts';
import { answerTables, type Table, type Tables } from './table.ts';
import { parameterName, variableReader } from './variable-readers.ts';

/** A route and its operation. */
export interface CompiledRoute {
  route: Route;
  operation: StoredOperation;
  /** The JSON Schema of its answers. */
  answer: JsonSchema;
  /** Its answers as tables, for the formats of rows; writes, and routes without rows, have none. */
  tables: Tables;
  /** The data and the metadata in a result of the operation. */
  found: (result: Record<string, unknown>, caller: Caller, nowMs: number) => Found;
  /** The weight of an operator's operation, by which its requests are charged. */
  weighed?: WeighedOperation;
  /** The subscription of an operator's route that answers with an event stream. */
  stream?: ReadOperation;
}

/** The data and the metadata of an answer. */
interface Found {
  data: unknown;
  meta: Record<string, unknown>;
}

const noTables: Tables = { tables: [], beside: () => null };

/** The tables of a route; those of an own route that share a key are named by their paths. */
function namedApart({ tables, beside }: Tables, { own }: Pick<Route, 'own'>): Tables {
  const isShared = (name: string) => own !== undefined && tables.filter((table) => table.name === name).length > 1;
  return { tables: tables.map((table) => (isShared(table.name) ? { ...table, name: table.path } : table)), beside };
}

/** Tables with the one of a name first, which a request gets that names none. */
function shownFirst({ tables, beside }: Tables, name: string | undefined): Tables {
  const isShown = (table: Table) => table.name === name;
  if (name !== undefined && !tables.some(isShown)) throw new Error(`no list of the answer is named ${name}`);
  return { tables: [...tables.filter(isShown), ...tables.filter((table) => !isShown(table))], beside };
}

/** The part of an operation's result at `path`. If it has no `data`, everything besides `meta` is the data. */
export function answerAt(
  result: Record<string, unknown>,
  path: string,
): { data: unknown; meta: Record<string, unknown> } {
  let answer: unknown = result;
  for (const key of path === '' ? [] : path.split('.')) answer = (answer as Record<string, unknown>)[key];
  const { meta, ...payload } = answer as { meta: Record<string, unknown> };
  return 'data' in payload ? (answer as { data: unknown; meta: Record<string, unknown> }) : { data: payload, meta };
}

/** A route with its operation and the schema of its answers, ready to serve. */
export function completeRoute(
  written: Route,
  operation: StoredOperation,
  { answer, found, table }: Pick<CompiledRoute, 'answer' | 'found'> & { table?: string | undefined },
): CompiledRoute {
  const { data } = answer.properties as { data: JsonSchema };
  const tables = written.method === 'GET' ? shownFirst(namedApart(answerTables(data), written), table) : noTables;
  const names = tables.tables.map(({ name }) => name);
  const queryParams = {
    ...written.queryParams,
    ...(operation.variables.includes('provenance') && { provenance: provenanceParam }),
    // Where there are several, the request says which.
    ...(names.length > 1 && { table: tableName(names) }),
  };
  const route = { ...written, queryParams };
  return { route, operation, answer, tables, found };
}

/** Variables that a route sets itself, beside `tz`, which has a default. */
const ownVariables = ['protobuf', 'provenance'];

/** The requests of a route of the contract: its settings, and a parameter for each variable that they leave. */
function requestsOf(
  schema: GraphQLSchema,
  { variableDefinitions = [] }: OperationDefinitionNode,
  { params: declared = {}, variables: computed = {} }: RouteSettings,
): RouteRequests {
  const variableOf = new Map<string, string>();
  const params: Params = {};
  for (const { variable, type: node, defaultValue } of variableDefinitions) {
    const { value } = variable.name;
    const name = parameterName(value);
    if (declared[name]) params[name] = declared[name];
    if (Object.hasOwn(computed, value) || ownVariables.includes(value)) continue;
    variableOf.set(name, value);
    if (declared[name]) continue;
    const type = typeFromAST(schema, node as NamedTypeNode) as GraphQLInputType;
    const { reader } = variableReader(type);
    params[name] = isNonNullType(type) && !defaultValue && value !== 'tz' ? reader : reader.optional();
  }
  return {
    params: { ...params, ...declared },
    variables(values, body) {
      const given = [...variableOf].map(([name, variable]) => [variable, values[name]]);
      const made = Object.entries(computed).map(([variable, of]) => [variable, of(values as never, body)]);
      return Object.fromEntries([...given, ...made].filter(([, value]) => value !== undefined));
    },
  };
}

/** A route of the contract, of its settings. Throws at startup if its operation does not fit the schema. */
function contractRoute(schema: GraphQLSchema, settings: RouteSettings): CompiledRoute {
  const { params: _params, variables: _variables, withoutMeta, reportsFlow, table, ...rest } = settings;
  const { answer = '', scopeGroup, method = 'GET' } = rest;
  const { instant = method === 'GET' && isMarketGroup(scopeGroup) ? 'whole' : null } = rest;
  const path = `../routes/${rest.operation}`;
  const { document, definition } = writtenOperation(path);
  const row = routeRow({ ...rest, instant }, requestsOf(schema, definition, settings));
  const read = validOperation(schema, path, completed(schema, document, { answer, instant, withoutMeta, reportsFlow }));
  const operation = storedOperation(schema, row, read);
  const compiled = completeRoute(row, operation, {
    answer: answerSchema(schema, row, operation),
    found: (result) => answerAt(result, row.answer),
    table,
  });
  if (compiled.tables.tables.length > 1 && table === undefined)
    throw new Error(`${path}: its answer has several lists; the setting table names the one that tables contain`);
  return compiled;
}

/** The routes of the contract, each with its operation validated. */
export function contractRoutes(schema: GraphQLSchema, settings: readonly RouteSettings[]): CompiledRoute[] {
  return settings.map((each) => contractRoute(schema, each));
}
