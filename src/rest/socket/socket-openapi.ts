import type { JsonSchema } from '../contract/json-schema.ts';
import { errorResponses } from '../openapi/errors.ts';
import { publicHeaders } from '../openapi/headers.ts';
import { topicOptions } from './control.ts';

const topics = Object.entries(topicOptions).map(([topic, options]) => `${topic} (${options.join(', ')})`);

/** The WebSocket of protobuf frames as an OpenAPI operation: its handshake, and a description of the protocol. */
export const socketOperation: JsonSchema = {
  operationId: 'ws',
  tags: ['market.live'],
  summary: 'Live stream of protobuf frames',
  description: [
    'A WebSocket. Text messages are JSON control; each binary message of the server is one Frame of /v2/stream-protocol.proto.',
    'Send {op: "auth", ticket, proto: 3, encoding: "protobuf"} within 10 seconds, with a ticket of POST /v2/stream/ticket; the answer is {op: "authed"}, or {op: "nack", code: "invalid_ticket"} and close code 4401.',
    'Then send {op: "sub", id, topic, symbol, …}; the answer is {op: "ack", id, effective} or {op: "nack", id, code, message}. {op: "unsub", id} ends a subscription.',
    `Topics with their options: ${topics.join(', ')}.`,
    'Answer each {op: "ping", t} with {op: "pong", t}. {op: "bye", reconnect_after_ms, reason, code, message} precedes the end of the connection.',
  ].join(' '),
  // The ticket is in the first message.
  security: [],
  responses: {
    101: { description: 'The WebSocket is open.', headers: publicHeaders },
    // Linters require a success for every operation; this one has one over HTTP/2.
    200: { description: 'The WebSocket is open, through a proxy that speaks HTTP/2 (RFC 8441).' },
    ...errorResponses([400, 414, 426, 429, 503]),
  },
};
