import type { Request, Response } from 'express';
import type { Caller } from '../../access/caller.ts';
import type { EndpointServices } from '../../access/endpoint-services.ts';
import { currentRequest } from '../../platform/runtime/request-scope.ts';
import { readBody } from '../contract/body.ts';
import type { CompiledRoute } from '../contract/compiled-route.ts';
import { askedProvenance, type Envelope, envelope, noted } from '../contract/envelope.ts';
import { requestsOfRows, usageGroups } from '../contract/route.ts';
import { OperationMetering } from './metering.ts';
import { chargeBeyondFirst, failureOf, requireServed, routeValues, withBody, withReadInstant } from './router.ts';

/** A route called otherwise than over HTTP. */
export interface RouteCall {
  caller: Caller;
  texts: Readonly<Record<string, unknown>>;
  /** The body; null if there is none. */
  body: Buffer | null;
  /** Registers a clean-up that runs when the request ends. */
  onEnd: (undo: () => void) => void;
  /** The enclosing HTTP exchange, which gets the rate headers. */
  request: Request;
  response: Response;
}

/**
 * Runs a route for a caller by the rules of its HTTP endpoint: rate, usage, entitlement, limits. Throws the same
 * failures.
 */
export async function callRoute(
  services: EndpointServices,
  compiled: CompiledRoute,
  { caller, texts, body, onEnd, request, response }: RouteCall,
): Promise<Envelope> {
  const { route, operation, weighed } = compiled;
  if (route.method !== 'GET') currentRequest()?.mustFinish();
  try {
    await services.admission.charge(caller, request, response);
    requireServed(services, route, caller);
    const values = routeValues(route, texts, texts);
    const charge = chargeBeyondFirst(services, { caller, request, response });
    await charge(requestsOfRows(route, values));
    const read = route.body && (await readBody(route.body, body ?? Buffer.alloc(0), charge));
    const context = services.context(caller, onEnd);
    if (route.inFlightLimited) await services.takeInFlightSlot(context);
    const asked = askedProvenance(values, { setting: services.provenance, isJson: true });
    const variables = { ...route.variables(values, read), protobuf: false, provenance: asked.provenance };
    const metering = weighed && new OperationMetering(services, weighed, { caller, request, response });
    const result = await withBody(read, () => operation.run('values', context, variables, metering));
    const answered = noted(compiled.found(result, caller, services.now()), asked.note);
    return envelope(withReadInstant(route, answered, response));
  } catch (error) {
    throw failureOf(route, error);
  } finally {
    services.admission.count(caller, usageGroups(route));
  }
}
