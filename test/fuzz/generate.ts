import type { GraphQLSchema } from 'graphql';
import { randomOf } from '../support/random.ts';
import { graphRequest } from './graph-requests.ts';
import { type McpTool, mcpRequest } from './mcp-requests.ts';
import { mutated } from './mutate.ts';
import { rawRequest } from './raw-requests.ts';
import type { CredentialName, FuzzRequest, Grammar } from './request.ts';
import { type RestOperation, restRequest } from './rest-requests.ts';
import { socketRequest } from './socket-requests.ts';
import { sentText } from './socket-script.ts';
import { streamRequest } from './stream-requests.ts';

/** Source of a run's requests. */
export interface Language {
  schema: GraphQLSchema;
  operations: readonly RestOperation[];
  tools: readonly McpTool[];
  /** Names of the credentials that requests are sent with. */
  credentials: readonly string[];
  /** The date that the target's market ends with. */
  today: string;
  /** Also documents that multiply: much work for few bytes. */
  heavy: boolean;
}

const pages = [
  '/',
  '/graphql',
  '/dashboard',
  '/dashboard/SPY',
  '/docs',
  '/healthz',
  '/readyz',
  '/metrics',
  '/v2/openapi.json',
  '/v2/rest-protocol.proto',
  '/favicon.ico',
  '/v2',
  '/.env',
  '/assets/../../package.json',
];

function plainRequest(grammar: Grammar, { schema, operations, tools }: Language): FuzzRequest {
  const { random } = grammar;
  const kind = random.below(100);
  if (kind < 41) return restRequest(grammar, operations);
  if (kind < 74) return graphRequest(grammar, schema);
  if (kind < 80) return streamRequest(grammar);
  if (kind < 91) return mcpRequest(grammar, tools);
  if (kind < 94) return rawRequest(random);
  if (kind < 97) return socketRequest(grammar, schema);
  const headers: Record<string, string> = random.once(2) ? { accept: 'text/html' } : {};
  return { kind: 'page', method: 'GET', path: random.pick(pages), headers, credential: null, about: null };
}

/**
 * No credential once in twelve; whatever may be a declaration, which changes what an account reads, by the one that is
 * there for it.
 */
function credentialOf({ random }: Grammar, request: FuzzRequest, names: readonly string[]): CredentialName {
  const text = request.path + (request.body ?? '') + (request.socket ? sentText(request.socket) : '');
  if (/professional|classif/i.test(text)) return names.find((name) => name.includes('declaring')) ?? null;
  return random.once(12) || names.length === 0 ? null : random.pick(names);
}

/** Request number `index` of a run: the same for the same seed and language, whatever came before it. */
export function requestOf(language: Language, seed: number, index: number): FuzzRequest {
  const random = randomOf(Math.imul(seed, 0x9e3779b1) ^ Math.imul(index + 1, 0x85ebca6b));
  const grammar = { random, today: language.today, heavy: language.heavy };
  const plain = plainRequest(grammar, language);
  const isOfHttp = plain.kind !== 'raw' && plain.kind !== 'socket';
  const request = isOfHttp && random.once(3) ? mutated(random, plain) : plain;
  return { ...request, credential: credentialOf(grammar, request, language.credentials) };
}
