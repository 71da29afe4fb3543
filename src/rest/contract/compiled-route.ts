import type { GraphQLSchema } from 'graphql';
import type { Caller } from '../../access/caller.ts';
import type { WeighedOperation } from '../../graphql/limits/weighed-operation.ts';
import { answerSchema } from './answer-schema.ts';
import type { JsonSchema } from './json-schema.ts';
import { type ReadOperation, readRouteOperation, type StoredOperation, storedOperation } from './operation.ts';
import { tableName } from './params.ts';
import { provenanceParam } from './provenance.ts';
import type { Route } from './route.ts';
import { answerTables, type Tables } from './table.ts';

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

/** The path of a route as people write it: `{name}` are its parameters. */
export const writtenPath = (path: string): string => path.replace(/:(\w+)/g, '{$1}');

const noTables: Tables = { tables: [], beside: () => null };

/** The tables of a route; those of an own route that share a key are named by their paths. */
function namedApart({ tables, beside }: Tables, { own }: Pick<Route, 'own'>): Tables {
  const isShared = (name: string) => own !== undefined && tables.filter((table) => table.name === name).length > 1;
  return { tables: tables.map((table) => (isShared(table.name) ? { ...table, name: table.path } : table)), beside };
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
  { answer, found }: Pick<CompiledRoute, 'answer' | 'found'>,
): CompiledRoute {
  const { data } = answer.properties as { data: JsonSchema };
  const tables = written.method === 'GET' ? namedApart(answerTables(data), written) : noTables;
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

function compiledRoute(schema: GraphQLSchema, route: Route): CompiledRoute {
  const operation = storedOperation(schema, route, readRouteOperation(schema, route));
  const answer = answerSchema(schema, route, operation);
  return completeRoute(route, operation, { answer, found: (result) => answerAt(result, route.answer) });
}

/** The routes of the table, each with its operation validated. */
export function compiledRoutes(schema: GraphQLSchema, routes: readonly Route[]): CompiledRoute[] {
  return routes.map((route) => compiledRoute(schema, route));
}
