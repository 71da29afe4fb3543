import type { Response } from 'express';
import type { Caller } from '../access/caller.ts';
import { invalidParameter } from '../domain/failure.ts';
import { bodyOver } from '../domain/request-body.ts';
import { type Envelope, envelope } from './envelope.ts';
import { answerAt, type CompiledRoute, charge, type RestDoor, routeValues } from './router.ts';

/** A route asked otherwise than at its address. */
export interface RouteCall {
  caller: Caller;
  /** Texts of its parameters, of path and query. */
  texts: Readonly<Record<string, unknown>>;
  /** The body; null when there is none. */
  body: Buffer | null;
  /** What belongs to the request is undone when it ends. */
  onEnd: (undo: () => void) => void;
  /** The HTTP answer that carries it: a key is told its rate there. */
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
 * What a route answers to a caller, by the same rules as at its address: rate, usage, entitlement, limits. Throws the failure that
 * the address would answer.
 */
export async function callRoute(
  door: Pick<RestDoor, 'consume' | 'count' | 'context' | 'takeInFlightPlace' | 'now'>,
  compiled: CompiledRoute,
  { caller, texts, body, onEnd, response }: RouteCall,
): Promise<Envelope> {
  const { route, operation } = compiled;
  try {
    await charge(door, caller, response);
    const values = routeValues(door, route, texts, texts);
    const read = bodyOf(compiled, body);
    const context = door.context(caller, onEnd);
    if (route.inFlightLimited) await door.takeInFlightPlace(context);
    const result = await operation.run(context, { ...route.variables(values, read), protobuf: false });
    return await envelope(answerAt(result, route.answer), route.absent);
  } finally {
    door.count(caller, route.scopeGroup);
  }
}
