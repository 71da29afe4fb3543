import { storedWeights } from '../graphql/limits/weighed-operation.ts';
import type { Config } from '../platform/config/config.ts';
import { schema } from '../schema/index.ts';
import type { CompiledRoute } from './contract/compiled-route.ts';
import type { JsonSchema } from './contract/json-schema.ts';
import { openApi, withOwnPaths } from './openapi.ts';
import { ownRoutes, trustedTexts } from './own/own-routes.ts';
import type { RouteFiles } from './own/route-files.ts';
import { compiledRoutes as compiled } from './routes.ts';
import { type SocketOperations, socketOperations } from './socket/socket-topics.ts';
import { type StreamOperations, streamOperations } from './stream/stream.ts';

/** The compiled contract, derived from the schema alone. */
export interface CompiledContract {
  compiled: readonly CompiledRoute[];
  streams: StreamOperations;
  sockets: SocketOperations;
  /** OpenAPI with inline schemas. */
  description: JsonSchema;
}

/** Compiles the stored operations of routes and streams. */
export function compileContract({ metaHeaderPrefix }: Pick<Config, 'metaHeaderPrefix'>): CompiledContract {
  const streams = streamOperations(schema);
  const sockets = socketOperations(schema);
  return { compiled, streams, sockets, description: openApi(schema, compiled, streams, metaHeaderPrefix) };
}

/** The routes that a server serves: those of the contract, and the operator's. */
export interface RouteTable extends CompiledContract {
  /** Those of the operator, which are in `compiled` too. */
  own: readonly CompiledRoute[];
  /** The trusted documents, by id. */
  trusted: ReadonlyMap<string, string>;
}

let weigh: ReturnType<typeof storedWeights> | null = null;

/**
 * The contract with the routes of a folder; null = none. `toolNames`: those of the tools for AI clients that are no
 * routes. Throws `RoutesError` if a file of it does not fit.
 */
export function routeTable(
  contract: CompiledContract,
  files: RouteFiles | null,
  { metaHeaderPrefix }: Pick<Config, 'metaHeaderPrefix'>,
  toolNames: readonly string[],
): RouteTable {
  if (files === null) return { ...contract, own: [], trusted: new Map() };
  weigh ??= storedWeights(schema);
  const own = ownRoutes({ schema, weigh, toolNames }, contract.compiled, files);
  return {
    ...contract,
    own,
    trusted: trustedTexts(schema, files),
    compiled: [...contract.compiled, ...own],
    description: withOwnPaths(contract.description, schema, own, metaHeaderPrefix),
  };
}
