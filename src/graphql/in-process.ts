import type { IncomingMessage, ServerResponse } from 'node:http';
import type { ExecutionResult } from 'graphql';
import type { YogaServerInstance } from 'graphql-yoga';
import type { HttpContext } from './request-state.ts';

/** Size limit of an answer that is read within the process, bytes: it is parsed in one go. */
export const answerBytesInProcess = 4 * 1024 * 1024;

/**
 * Sends a document to the graph from within the process: with the credential, limits, cost and usage of a request to
 * `/graphql`. `request` and `response` are those of the enclosing request.
 */
export function askThrough(yoga: YogaServerInstance<HttpContext, object>) {
  return async (
    query: string,
    variables: Record<string, unknown>,
    request: IncomingMessage,
    response: ServerResponse,
  ): Promise<ExecutionResult> => {
    const answer = await yoga.fetch(
      'http://localhost/graphql',
      {
        method: 'POST',
        headers: { 'content-type': 'application/json', accept: 'application/json' },
      },
      { req: request, res: response, answerBytes: answerBytesInProcess, sent: { query, variables } } as HttpContext,
    );
    return (await answer.json()) as ExecutionResult;
  };
}
