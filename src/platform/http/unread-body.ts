import type { IncomingMessage, ServerResponse } from 'node:http';
import { declaredLength, isAwaitingContinue } from './request-body.ts';

/**
 * Maximum size of an unread body that is read after the answer, so that its connection can continue. With a larger one
 * it closes.
 */
const smallBytes = 64 * 1024;

/** True if the connection of a request whose body was not read to its end must close after the answer. */
function closesConnection(request: IncomingMessage): boolean {
  if (request.complete) return false;
  // A client that waits for `100 Continue` may or may not send the body after the answer: the next bytes would be
  // ambiguous.
  if (isAwaitingContinue(request)) return true;
  const length = declaredLength(request);
  return length === null || length > smallBytes;
}

/**
 * Adds `Connection: close` to an answer sent before the request's body was read to its end, unless the rest is small.
 */
export function closeWhenUnread(request: IncomingMessage, response: ServerResponse): void {
  if (declaredLength(request) === 0) return;
  const writeHead = response.writeHead;
  response.writeHead = ((...head: Parameters<typeof writeHead>) => {
    if (!response.headersSent && closesConnection(request)) response.setHeader('Connection', 'close');
    return writeHead.apply(response, head);
  }) as typeof writeHead;
}
