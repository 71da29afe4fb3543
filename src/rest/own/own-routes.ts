import { type Request, type RequestHandler, type Response, Router } from 'express';
import type { GraphQLSchema } from 'graphql';
import { z } from 'zod';
import type { Caller } from '../../access/caller.ts';
import { requestsOf } from '../../graphql/limits/weight.ts';
import { methodNotAllowed } from '../../platform/wire/failure.ts';
import type { CompiledRoute } from '../contract/compiled-route.ts';
import type { Route } from '../contract/route.ts';
import { requireSmall } from '../http/metering.ts';
import { type RestParts, requireServed, restRouter, routeValues } from '../http/router.ts';
import { type StreamKind, serveStream } from '../stream/stream.ts';
import { readDocument } from './document.ts';
import { type OwnParts, ownRoute } from './own-route.ts';
import { requireFree } from './paths.ts';
import { FileProblem, Problems } from './problems.ts';
import { nameOf, type RouteFiles, type SourceFile } from './route-files.ts';
import { parseJson, readSettings } from './settings.ts';

/** The settings of a document: the JSON file of its name. */
function settingsFile({ json }: RouteFiles, { name }: SourceFile): SourceFile | undefined {
  return json.find((file) => file.name === `${nameOf(name)}.json`);
}

/** Names of events of streams in themselves. */
const eventNames = ['ready', 'end'];

function requireName(name: string, { toolNames }: OwnParts, contract: readonly CompiledRoute[]): void {
  const tool = name.replaceAll('-', '_');
  if (toolNames.includes(tool))
    throw new FileProblem(`a tool of AI clients is named ${tool}; give the file another name`);
  if (eventNames.includes(name))
    throw new FileProblem(`an event of streams is named ${name}; give the file another name`);
  if (contract.some(({ route }) => route.name.replaceAll('-', '_') === tool))
    throw new FileProblem(`a route of the contract is named ${name}; give the file another name`);
}

/**
 * Compiles the routes of a folder. Throws `RoutesError` with every problem of every file: a folder is served as a whole
 * or not at all.
 */
export function ownRoutes(parts: OwnParts, contract: readonly CompiledRoute[], files: RouteFiles): CompiledRoute[] {
  const problems = new Problems();
  const routes: CompiledRoute[] = [];
  const own: Route[] = [];
  const addresses = contract.map(({ route }) => route);
  for (const file of files.documents) {
    const name = nameOf(file.name);
    const written = settingsFile(files, file);
    const settings = problems.of(written?.name ?? file.name, () => readSettings(written));
    if (!settings) continue;
    const compiled = problems.of(
      file.name,
      () => {
        requireName(name, parts, contract);
        const made = ownRoute(parts, file, settings);
        requireFree(made.route, addresses, own);
        return made;
      },
      written,
    );
    if (!compiled) continue;
    routes.push(compiled);
    own.push(compiled.route);
  }
  problems.requireNone();
  return routes;
}

/** The literal segments that a path begins with, at most two: the key under which its router is found. */
function prefixOf(path: string): string {
  const [first = '', second] = path.slice(1).split('/');
  return second === undefined || second.startsWith(':') ? `/${first}` : `/${first}/${second}`;
}

/** The stream of an operator's subscription: one event, named by the route, per answer. */
function ownStream({ services }: RestParts, { route, weighed, stream }: CompiledRoute): StreamKind {
  return {
    operations: new Map([[route.name, stream!]]),
    read(request: Request, caller: Caller) {
      requireServed(services, route, caller);
      const variables = route.variables(routeValues(route, request.params, request.query), undefined);
      const prediction = weighed!.predict(variables, caller);
      requireSmall(prediction);
      const followed = [{ kind: route.name, variables }];
      const { points } = prediction;
      const asked = { names: [route.name], topics: followed, followed, since: {}, groups: route.own!.groups, points };
      return { asked, cost: requestsOf(points) };
    },
  };
}

/**
 * The operator's routes as a router. The first segments of a path select a router of few routes, so that the last of
 * hundreds is found as fast as the first.
 */
export function ownRouter(parts: RestParts, own: readonly CompiledRoute[]): RequestHandler {
  const streamOf = (compiled: CompiledRoute) => {
    if (!compiled.stream) return null;
    const kind = ownStream(parts, compiled);
    return async (request: Request, response: Response) => {
      // A stream has no known length, so HEAD is not supported.
      if (request.method !== 'GET') throw methodNotAllowed(request.method, ['GET']);
      await serveStream(parts.services, kind, request, response);
    };
  };
  const groups = Map.groupBy(own, ({ route }) => prefixOf(route.path));
  const routers = new Map([...groups].map(([prefix, routes]) => [prefix, restRouter(parts, routes, streamOf)]));
  const router = Router({ caseSensitive: true });
  return router.use((request, response, next) => {
    const [, first = '', second = ''] = request.path.split('/');
    const wide = routers.get(`/${first}`);
    const narrow = routers.get(`/${first}/${second}`);
    const otherwise = wide ? () => wide(request, response, next) : next;
    if (narrow) narrow(request, response, otherwise);
    else otherwise();
  });
}

/** Maximum number of trusted documents. */
const mostDocuments = 10_000;

/** A manifest of Apollo's clients. */
const apollo = z.looseObject({
  format: z.literal('apollo-persisted-query-manifest'),
  version: z.literal(1),
  operations: z.array(z.looseObject({ id: z.string().min(1).max(200), body: z.string() })),
});

/** A manifest of Relay, or of the client preset of GraphQL Code Generator: text by id or hash. */
const byId = z.record(z.string().min(1).max(200), z.string());

const expected =
  'expected the settings of a document of the same name, or a manifest of trusted documents: of Apollo (format apollo-persisted-query-manifest, version 1), of Relay, or of the client preset of GraphQL Code Generator ({"id": "text"})';

/** The documents of a manifest, by id. */
function readManifest(file: SourceFile): [id: string, text: string][] {
  const value = parseJson(file);
  const ofApollo = apollo.safeParse(value);
  if (ofApollo.success) return ofApollo.data.operations.map(({ id, body }) => [id, body]);
  const plain = byId.safeParse(value);
  if (plain.success && Object.keys(plain.data).length > 0) return Object.entries(plain.data);
  throw new FileProblem(expected);
}

/** A problem of a document of a manifest, named by its id. */
function ofDocument(id: string, thrown: unknown): unknown {
  const errors = thrown instanceof AggregateError ? thrown.errors : [thrown];
  return new AggregateError(
    errors.map((error) => (error instanceof Error ? new FileProblem(`${id}: ${error.message}`) : error)),
  );
}

/**
 * The trusted documents of a folder, by id: those of its manifests, and those of its routes by their names. Throws
 * `RoutesError` with every problem.
 */
export function trustedTexts(schema: GraphQLSchema, files: RouteFiles): Map<string, string> {
  const problems = new Problems();
  const texts = new Map(files.documents.map(({ name, text }) => [nameOf(name), text]));
  const add = (id: string, text: string) => {
    const known = texts.get(id);
    if (known !== undefined && known !== text) throw new FileProblem(`${id}: another document has this id`);
    try {
      if (known === undefined) readDocument(schema, { name: id, text });
    } catch (thrown) {
      throw ofDocument(id, thrown);
    }
    texts.set(id, text);
    if (texts.size > mostDocuments) throw new FileProblem(`with it there are over ${mostDocuments} trusted documents`);
  };
  const settingsOf = new Set(files.documents.map(({ name }) => nameOf(name)));
  for (const file of files.json) {
    if (settingsOf.has(nameOf(file.name))) continue;
    for (const [id, text] of problems.of(file.name, () => readManifest(file)) ?? [])
      problems.of(file.name, () => add(id, text));
  }
  problems.requireNone();
  return texts;
}
