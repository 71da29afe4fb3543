import type { IncomingMessage } from 'node:http';
import { GraphQLError } from 'graphql';
import type { Plugin } from 'graphql-yoga';
import { yieldForBytes } from '../../runtime/event-loop.ts';
import { invalidRequest, unsupportedMediaType } from '../../wire/failure.ts';
import { namedOperation, requestErrorOf, requireQuery } from '../request-error.ts';
import type { HttpContext } from '../request-state.ts';

const textOf = new WeakMap<IncomingMessage, string>();

/** Hands over the text of a body that was received: Yoga would read it through streams and copies of its own. */
export function setSentText(request: IncomingMessage, text: string): void {
  textOf.set(request, text);
}

/** The body of an operation, if it was received before: JSON, which is parsed when it is its turn. */
function receivedBody({ req, sent }: HttpContext): Pick<Request, 'json'> | null {
  if (sent !== undefined) return { json: async () => sent };
  const text = textOf.get(req);
  if (text === undefined) return null;
  textOf.delete(req);
  return {
    async json() {
      const value: unknown = JSON.parse(text);
      await yieldForBytes(text.length);
      return value;
    },
  };
}

/**
 * Tells in the contract's words what is wrong with a request that is none of GraphQL: Yoga itself answers an unknown
 * content type with no body, and takes variables in an address that are not JSON for a defect of ours.
 */
export function requestForm(): Plugin<object> {
  return {
    onRequestParse: ({ requestParser, setRequestParser, serverContext }) => {
      setRequestParser(async (request) => {
        if (!requestParser) throw requestErrorOf(unsupportedMediaType('application/json'));
        try {
          const received = receivedBody(serverContext as unknown as HttpContext);
          const params = await requestParser((received as Request | null) ?? request);
          if ('query' in params || 'extensions' in params) requireQuery(params);
          return 'operationName' in params ? namedOperation(params) : params;
        } catch (error) {
          if (error instanceof GraphQLError) throw error;
          throw requestErrorOf(invalidRequest('Expected a query, and JSON objects as variables and extensions.'));
        }
      });
    },
  };
}
