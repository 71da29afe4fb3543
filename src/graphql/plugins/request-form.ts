import type { RequestHandler } from 'express';
import { GraphQLError } from 'graphql';
import type { Plugin } from 'graphql-yoga';
import { invalidRequest, unsupportedMediaType } from '../../domain/failure.ts';
import { requestErrorOf, requireQuery } from '../request-error.ts';

/**
 * Tells in the contract's words what is wrong with a request that is none of GraphQL: Yoga itself answers an unknown
 * content type with no body, and takes variables in an address that are not JSON for a defect of ours.
 */
export function requestForm(): Plugin<object> {
  return {
    onRequestParse: ({ requestParser, setRequestParser }) => {
      setRequestParser(async (request) => {
        if (!requestParser) throw requestErrorOf(unsupportedMediaType('application/json'));
        try {
          const params = await requestParser(request);
          if ('query' in params || 'extensions' in params) requireQuery(params);
          return params;
        } catch (error) {
          if (error instanceof GraphQLError) throw error;
          throw requestErrorOf(invalidRequest('Expected a query, and JSON objects as variables and extensions.'));
        }
      });
    },
  };
}

// Not multipart/mixed: nothing is deferred, so that no answer has parts. Not text/html: GraphiQL's page is answered
// before (src/pages).
const served = ['application/json', 'application/graphql-response+json', 'text/event-stream'];

/**
 * Answers in JSON if the client accepts none of the supported types, as REST routes do; Yoga would send an empty 406.
 */
export const acceptAnything: RequestHandler = (request, _response, next) => {
  if (request.accepts(served) === false) delete request.headers.accept;
  next();
};
