import type { GraphQLSchema } from 'graphql';
import { randomDocument } from './documents.ts';
import type { FuzzRequest, Grammar } from './request.ts';
import { hostileJson, hostilePiece, hostileText, plausible } from './values.ts';

const options: Record<string, readonly string[]> = {
  quotes: ['', '', ':1m'],
  bars: ['', ':1m', ':5m', ':1d', ':x'],
  gex: ['', ':5', ':0', ':999999', ':1e3'],
  'large-trades': ['', ':0', ':250000', ':0.5', ':-1'],
  'cross-section': ['', ':x'],
  none: [''],
};

function topic({ random, today }: Grammar): string {
  if (random.once(10)) return hostileText(random).slice(0, 60);
  const kind = random.pick(Object.keys(options));
  const symbol = random.once(12) ? '*' : plausible(random, 'ticker', today);
  return random.once(6) ? symbol : `${kind}:${symbol}${random.pick(options[kind]!)}`;
}

/** `/v2/stream`: topics that are right, wrong, too many. */
function plainStream(grammar: Grammar): FuzzRequest {
  const { random } = grammar;
  const topics = Array.from({ length: 1 + random.below(random.once(20) ? 80 : 3) }, () => topic(grammar)).join(',');
  const query = random.once(12) ? hostilePiece(random) : `topics=${encodeURIComponent(topics.toWellFormed())}`;
  return {
    kind: 'stream',
    method: 'GET',
    path: `/v2/stream?${query}`,
    headers: random.once(2) ? { accept: 'text/event-stream' } : {},
    credential: null,
    about: null,
  };
}

/** `/graphql/stream`: reservations, streams and operations of one connection, with tokens that nobody was given. */
function singleConnection(grammar: Grammar, schema: GraphQLSchema): FuzzRequest {
  const { random } = grammar;
  const method = random.pick(['PUT', 'GET', 'POST', 'POST', 'DELETE']);
  const token = random
    .pick(['', 'x', '3fa85f64-5717-4562-b3fc-2c963f66afa6', hostileText(random)])
    .replace(/[^\x20-\x7e]/g, '');
  const { text: query, variables } = randomDocument(grammar, schema, random.once(2) ? 'subscription' : 'query');
  const operation = {
    query,
    variables,
    extensions: { operationId: random.once(8) ? hostileJson(random, 1) : `o${random.below(9)}` },
  };
  const sent = random.once(12)
    ? hostileJson(random)
    : random.once(2)
      ? operation
      : { operations: Array.from({ length: 1 + random.below(25) }, () => operation) };
  return {
    kind: 'stream',
    method,
    path: `/graphql/stream${method === 'DELETE' ? `?operationId=${hostilePiece(random)}` : ''}`,
    headers: {
      ...(random.once(3) ? {} : { 'x-graphql-event-stream-token': token }),
      ...(method === 'POST' ? { 'content-type': 'application/json' } : {}),
      ...(random.once(2) ? { accept: 'text/event-stream' } : {}),
    },
    credential: null,
    ...(method === 'POST' ? { body: Buffer.from(JSON.stringify(sent) ?? '') } : {}),
    about: null,
  };
}

/** A request of one of the streams. Those that open are read up to their first events and left. */
export function streamRequest(grammar: Grammar, schema: GraphQLSchema): FuzzRequest {
  return grammar.random.once(2) ? plainStream(grammar) : singleConnection(grammar, schema);
}
