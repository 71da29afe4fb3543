import type { GraphQLSchema } from 'graphql';
import { type FuzzDocument, randomDocument, symbolDocument } from './documents.ts';
import { brokenDocument, hostileDocument } from './hostile-documents.ts';
import { multiplyingDocument } from './multiplying-documents.ts';
import type { FuzzRequest, Grammar } from './request.ts';
import { hostileBody, hostileJson } from './values.ts';

const restrictedSymbols = ['NVDA', 'SPX', 'XSP', 'MSFT'];

const eventStream = { accept: 'text/event-stream' };

/** The JSON of a request for a document; parts of it are missing or wrong now and then. */
export function envelopeOf({ random }: Grammar, { text, variables, operationNames }: FuzzDocument): unknown {
  if (random.once(60)) return hostileJson(random);
  const request: Record<string, unknown> = { query: random.once(80) ? hostileJson(random) : text };
  if (Object.keys(variables).length > 0 || random.once(6))
    request.variables = random.once(30) ? hostileJson(random) : variables;
  if (operationNames.length > 1 || random.once(6))
    request.operationName = random.once(20) ? hostileJson(random, 1) : random.pick(operationNames);
  if (random.once(20))
    request.extensions = random.once(2)
      ? hostileJson(random)
      : { persistedQuery: { version: 1, sha256Hash: 'a'.repeat(64) } };
  return random.once(40) ? [request, request] : request;
}

/** Anything as text that an address can hold. */
const inAddress = (value: unknown) =>
  encodeURIComponent((typeof value === 'string' ? value : (JSON.stringify(value) ?? '')).slice(0, 6000).toWellFormed());

const usualOperations = ['query', 'query', 'query', 'query', 'query', 'query', 'mutation', 'subscription'] as const;

/** A document that fits the schema, one that nearly does, or a hostile one. */
export function documentOf(
  grammar: Grammar,
  schema: GraphQLSchema,
  operations: readonly FuzzDocument['operation'][] = usualOperations,
): FuzzDocument {
  const { random } = grammar;
  const asQuery = (text: string): FuzzDocument => ({ text, variables: {}, operation: 'query', operationNames: ['Q'] });
  if (grammar.heavy && random.once(40)) return asQuery(multiplyingDocument(random));
  if (random.once(5)) return asQuery(hostileDocument(random));
  const document = randomDocument(grammar, schema, random.pick(operations));
  return random.once(4) ? { ...document, text: brokenDocument(random, document.text) } : document;
}

/** A query whose whole answer is made of one symbol that not everybody may read. */
export function restrictedDocument(grammar: Grammar, schema: GraphQLSchema): { about: string; document: FuzzDocument } {
  const about = grammar.random.pick(restrictedSymbols);
  const text = symbolDocument(grammar, schema, about);
  return { about, document: { text, variables: {}, operation: 'query', operationNames: ['Q'] } };
}

function graphHeaders({ random }: Grammar, { operation }: FuzzDocument): Record<string, string> {
  if (operation === 'subscription' ? !random.once(6) : random.once(40)) return eventStream;
  return random.once(3)
    ? {
        accept: random.pick([
          'application/graphql-response+json',
          'application/json',
          '*/*',
          'multipart/mixed',
          'text/html',
        ]),
      }
    : {};
}

/** A request of the graph's endpoint: a document that fits the schema, one that nearly does, or a hostile one. */
export function graphRequest(grammar: Grammar, schema: GraphQLSchema): FuzzRequest {
  const { random } = grammar;
  const { about, document } = random.once(10)
    ? restrictedDocument(grammar, schema)
    : { about: null, document: documentOf(grammar, schema) };
  const headers = graphHeaders(grammar, document);
  const kind = headers.accept === eventStream.accept ? 'stream' : 'graph';
  if (random.once(10)) {
    const name = random.once(8) ? `&operationName=${inAddress(random.pick(document.operationNames))}` : '';
    const path = `/graphql?query=${inAddress(document.text)}&variables=${inAddress(document.variables)}${name}`;
    return { kind, method: 'GET', path, headers, credential: null, about };
  }
  const body = random.once(30) ? hostileBody(random) : Buffer.from(JSON.stringify(envelopeOf(grammar, document)) ?? '');
  return {
    kind,
    method: 'POST',
    path: '/graphql',
    headers: { 'content-type': 'application/json', ...headers },
    credential: null,
    body,
    about,
  };
}
