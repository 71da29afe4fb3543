import type { ServerResponse } from 'node:http';
import { type Lifetime, lifetime } from '../runtime/lifetime.ts';

const responseLives = new WeakMap<ServerResponse, Lifetime>();

// One listener per response: Node warns of a leak from the eleventh on.
function responseLife(response: ServerResponse): Lifetime {
  const known = responseLives.get(response);
  if (known) return known;
  const life = lifetime();
  responseLives.set(response, life);
  response.once('close', life.end);
  if (response.closed) life.end();
  return life;
}

/** Ends when the response has been sent or the client has disconnected, whichever is first, unless ended before. */
export function requestLife(response: ServerResponse): Lifetime {
  const life = lifetime();
  responseLife(response).onEnd(life.end);
  return life;
}
