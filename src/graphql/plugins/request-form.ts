import type { IncomingMessage } from 'node:http';
import { GraphQLError } from 'graphql';
import type { GraphQLParams, Plugin } from 'graphql-yoga';
import { yieldForBytes } from '../../platform/runtime/event-loop.ts';
import { invalidRequest, unsupportedMediaType } from '../../platform/wire/failure.ts';
import { namedOperation, requestErrorOf, withQuery } from '../request-error.ts';
import type { HttpContext } from '../request-state.ts';
import type { TrustedDocuments } from '../trusted-documents.ts';

const textOf = new WeakMap<IncomingMessage, string>();

/** Stores the text of a received body: Yoga would read it through streams and copies of its own. */
export function setSentText(request: IncomingMessage, text: string): void {
  textOf.set(request, text);
}

/** The text of a received body, which is read once; undefined = the request had none. */
export function takeSentText(request: IncomingMessage): string | undefined {
  const text = textOf.get(request);
  textOf.delete(request);
  return text;
}

/** The body of an operation, if it was already received as JSON; it is parsed when it is scheduled. */
function receivedBody({ req, sent }: HttpContext, trusted: TrustedDocuments): Pick<Request, 'json'> | null {
  if (sent !== undefined) return { json: async () => sent };
  const text = takeSentText(req);
  if (text === undefined) return null;
  return {
    async json() {
      const value: unknown = JSON.parse(text);
      await yieldForBytes(text.length);
      // Yoga knows no documentId.
      return typeof value === 'object' && value !== null ? trusted.named(value) : value;
    },
  };
}

/** The id of a document in the address of a GET request; null = none. */
function idInAddress({ method, url }: Pick<Request, 'method' | 'url'>): string | null {
  return method === 'GET' ? new URL(url).searchParams.get('documentId') : null;
}

/**
 * Reads requests, also by the id of a document. Reports in the contract's words why a request is not GraphQL:
 * Yoga answers an unknown content type with no body, and treats malformed JSON in the address's variables as a server
 * error.
 */
export function requestForm(trusted: TrustedDocuments): Plugin<object> {
  return {
    onRequestParse: ({ requestParser, setRequestParser, serverContext }) => {
      setRequestParser(async (request) => {
        if (!requestParser) throw requestErrorOf(unsupportedMediaType('application/json'));
        try {
          const received = receivedBody(serverContext as unknown as HttpContext, trusted);
          const read = await requestParser((received as Request | null) ?? request);
          const documentId = idInAddress(request);
          const named = (documentId === null ? read : trusted.named({ ...read, documentId })) as GraphQLParams;
          const params = withQuery(named, (id) => trusted.find(id));
          await trusted.requireFor((serverContext as unknown as HttpContext).req, params.query ?? '');
          return 'operationName' in params ? namedOperation(params) : params;
        } catch (error) {
          if (error instanceof GraphQLError) throw error;
          throw requestErrorOf(invalidRequest('Expected a query, and JSON objects as variables and extensions.'));
        }
      });
    },
  };
}
