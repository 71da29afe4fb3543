import { type Request, type RequestHandler, type Response, Router } from 'express';
import type { Caller } from '../../access/caller.ts';
import { requestsOf } from '../../graphql/limits/weight.ts';
import { methodNotAllowed } from '../../platform/wire/failure.ts';
import type { CompiledRoute } from '../contract/compiled-route.ts';
import { requireSmall } from '../http/metering.ts';
import { type RestParts, requireServed, restRouter, routeValues } from '../http/router.ts';
import { type StreamKind, serveStream } from '../stream/stream.ts';

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
