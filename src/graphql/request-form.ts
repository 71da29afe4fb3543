import type { RequestHandler } from 'express';
import { GraphQLError } from 'graphql';
import type { Plugin } from 'graphql-yoga';
import { invalidRequest, unsupportedMediaType } from '../domain/failure.ts';
import { refusal } from './refusal.ts';

/**
 * Tells in the contract's words what is wrong with a request that is none of GraphQL: Yoga itself answers an unknown content
 * type with no body, and takes variables in an address that are not JSON for a defect of ours.
 */
export function requestForm(): Plugin<object> {
  return {
    onRequestParse: ({ requestParser, setRequestParser }) => {
      setRequestParser(async (request) => {
        if (!requestParser) throw refusal(unsupportedMediaType('application/json'));
        try {
          return await requestParser(request);
        } catch (error) {
          if (error instanceof GraphQLError) throw error;
          throw refusal(invalidRequest('Expected query, and variables and extensions that are JSON objects.'));
        }
      });
    },
  };
}

const served = [
  'application/json',
  'application/graphql-response+json',
  'text/event-stream',
  'multipart/mixed',
  'text/html',
];

/** Answers in JSON whoever accepts nothing that there is, as the REST routes do; Yoga would answer 406 and nothing else. */
export const acceptAnything: RequestHandler = (request, _response, next) => {
  if (request.accepts(served) === false) delete request.headers.accept;
  next();
};
