import type { Request, Response } from 'express';
import type { Caller } from '../../access/caller.ts';
import type { EndpointServices } from '../../access/endpoint-services.ts';
import { invalidParameter } from '../../domain/failure.ts';
import { bodyOver } from '../../domain/request-body.ts';
import { currentRequest } from '../../runtime/request-scope.ts';
import { type Envelope, envelope } from '../contract/envelope.ts';
import { answerAt, type CompiledRoute, chargeForBody, failureOf, requireServed, routeValues } from './router.ts';

/** A route asked otherwise than at its address. */
export interface RouteCall {
  caller: Caller;
  /** Texts of its parameters, of path and query. */
  texts: Readonly<Record<string, unknown>>;
  /** The body; null if there is none. */
  body: Buffer | null;
  /** What belongs to the request is undone when it ends. */
  onEnd: (undo: () => void) => void;
  /** The HTTP exchange that carries it: the rate headers go there. */
  request: Request;
  response: Response;
}

function bodyOf({ route }: CompiledRoute, bytes: Buffer | null): unknown {
  if (!route.body) return undefined;
  if (bytes === null || bytes.length === 0) {
    if (!route.body.required) return null;
    throw invalidParameter('body', 'is required');
  }
  if (bytes.length > route.body.maxBytes) throw bodyOver(route.body.maxBytes);
  return route.body.read(bytes);
}

/**
 * What a route answers to a caller, by the same rules as at its address: rate, usage, entitlement, limits. Throws the
 * failure that the address would answer.
 */
export async function callRoute(
  services: EndpointServices,
  compiled: CompiledRoute,
  { caller, texts, body, onEnd, request, response }: RouteCall,
): Promise<Envelope> {
  const { route, operation } = compiled;
  if (route.method !== 'GET') currentRequest()?.mustFinish();
  try {
    await services.admission.charge(caller, request, response);
    requireServed(services, route);
    const values = routeValues(route, texts, texts);
    const read = bodyOf(compiled, body);
    await chargeForBody(services, route, { caller, request, response }, read);
    const context = services.context(caller, onEnd);
    if (route.inFlightLimited) await services.takeInFlightSlot(context);
    const result = await operation.run(context, { ...route.variables(values, read), protobuf: false });
    return await envelope(answerAt(result, route.answer), route.absent);
  } catch (error) {
    throw failureOf(route, error);
  } finally {
    services.admission.count(caller, [route.scopeGroup]);
  }
}
