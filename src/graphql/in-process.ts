import type { IncomingMessage, ServerResponse } from 'node:http';
import type { ExecutionResult } from 'graphql';
import type { graphqlDoor } from './door.ts';

/**
 * Sends a document through the graph's door from within: the same credential, limits, cost and usage as a request to `/graphql`, of which
 * `request` and `response` are those of the request it belongs to.
 */
export function askThrough(door: ReturnType<typeof graphqlDoor>['yoga']) {
  return async (
    query: string,
    variables: Record<string, unknown>,
    request: IncomingMessage,
    response: ServerResponse,
  ): Promise<ExecutionResult> => {
    const answer = await door.fetch(
      'http://localhost/graphql',
      {
        method: 'POST',
        headers: { 'content-type': 'application/json', accept: 'application/json' },
        body: JSON.stringify({ query, variables }),
      },
      { req: request, res: response },
    );
    return (await answer.json()) as ExecutionResult;
  };
}
