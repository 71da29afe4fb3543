import type { GraphQLSchema } from 'graphql';
import { dataSchema } from './contract/answer-schema.ts';
import type { JsonSchema } from './contract/json-schema.ts';
import { socketTopics, streamProtocolSource, topicOptions } from './socket/control.ts';
import type { StreamOperations } from './stream/stream.ts';
import { topicKinds } from './stream/stream-topics.ts';

const text = { type: 'string' };
const id = { type: ['string', 'integer'], description: 'Id of a subscription, chosen by the client.' };
const code = { type: 'string', description: 'A code of errors.' };
const message = { type: 'string', description: 'Reason, for people.' };

/** The schema of a JSON object; the properties of `further` may be absent. */
function object(required: Record<string, JsonSchema>, further: Record<string, JsonSchema> = {}): JsonSchema {
  return { type: 'object', required: Object.keys(required), properties: { ...required, ...further } };
}

const control = (op: string, required: Record<string, JsonSchema> = {}, further: Record<string, JsonSchema> = {}) =>
  object({ op: { const: op }, ...required }, further);

/** A message of a channel. */
interface Message {
  summary: string;
  payload: JsonSchema;
  contentType?: string;
}

/** Events of the stream that are not of a topic. */
const streamEvents: Record<string, Message> = {
  ready: {
    summary: 'The first event: the topics that are followed.',
    payload: object({ topics: { type: 'array', items: text } }, { note: text }),
  },
  end: {
    summary: 'The last event, if the server ends the stream.',
    payload: object(
      { reason: { enum: ['shutdown', 'too_slow', 'not_entitled', 'failed', 'completed'] } },
      { error: object({ code, message }), at: { type: 'integer', description: 'End of a replay, epoch ms.' } },
    ),
  },
};

/** Control messages that a client sends on the WebSocket of frames. */
const sentControl: Record<string, Message> = {
  auth: {
    summary: 'Within 10 seconds, with a ticket of POST /v2/stream/ticket.',
    payload: control('auth', { ticket: text }, { proto: { const: 3 }, encoding: { const: 'protobuf' } }),
  },
  sub: {
    summary: `Subscribes. Options: ${socketTopics.map((topic) => `${topic}: ${topicOptions[topic].join(', ')}`).join('; ')}.`,
    payload: control('sub', { id, topic: { enum: [...socketTopics] }, symbol: text }),
  },
  unsub: { summary: 'Ends a subscription.', payload: control('unsub', { id }) },
  pong: { summary: 'Answers a ping.', payload: control('pong', { t: { type: 'integer' } }) },
};

/** Messages that the server sends on it. */
const receivedControl: Record<string, Message> = {
  authed: { summary: 'The ticket is valid.', payload: control('authed') },
  ack: {
    summary: 'The subscription as it is served.',
    payload: control('ack', { id }, { effective: { type: 'object' } }),
  },
  nack: { summary: 'The message was rejected.', payload: control('nack', { code, message }, { id }) },
  ping: { summary: 'To be answered with pong.', payload: control('ping', { t: { type: 'integer' } }) },
  bye: {
    summary: 'Precedes the end of the connection.',
    payload: control('bye', { reason: text }, { reconnect_after_ms: { type: ['integer', 'null'] }, code, message }),
  },
  frame: {
    summary: 'A binary message: one Frame.',
    contentType: 'application/x-protobuf',
    payload: { schemaFormat: 'application/vnd.google.protobuf;version=3', schema: streamProtocolSource },
  },
};

const reference = (...path: string[]) => ({ $ref: `#/${path.map((key) => key.replaceAll('/', '~1')).join('/')}` });

/** An operation of a channel: the messages that the client receives or sends. */
function operation(
  channel: string,
  action: 'receive' | 'send',
  description: string,
  names: Iterable<string>,
): JsonSchema {
  const messages = Array.from(names, (name) => reference('channels', channel, 'messages', name));
  return { action, channel: reference('channels', channel), description, messages };
}

const messagesOf = (messages: Record<string, Message>): JsonSchema =>
  Object.fromEntries(
    Object.entries(messages).map(([name, each]) => [name, { name, contentType: 'application/json', ...each }]),
  );

/** The channels; `events` are those of the stream. */
function channelsOf(events: Record<string, Message>): JsonSchema {
  return {
    stream: {
      address: '/v2/stream',
      title: 'Server-sent events',
      description: 'The name of an event is that of its message. Parameters: see /v2/openapi.json.',
      messages: messagesOf(events),
    },
    ws: {
      address: '/v2/ws',
      title: 'WebSocket of protobuf frames',
      description: 'Text messages are JSON control, binary messages are frames.',
      messages: messagesOf({ ...sentControl, ...receivedControl }),
    },
    graphql: {
      address: '/graphql',
      title: 'Subscriptions of the graph',
      description:
        'The WebSocket subprotocol graphql-transport-ws; or server-sent events with Accept: text/event-stream. The subscriptions and their types are in /schema.graphql.',
      messages: messagesOf({
        subscribe: {
          summary: 'Begins a subscription.',
          payload: object({
            id: text,
            type: { const: 'subscribe' },
            payload: object({ query: text }, { variables: { type: 'object' }, operationName: text }),
          }),
        },
        next: {
          summary: 'An event of a subscription.',
          payload: object({ id: text, type: { const: 'next' }, payload: { type: 'object' } }),
        },
      }),
    },
  };
}

/**
 * The AsyncAPI 3.0 description of the streams: server-sent events, the WebSocket of frames, and the subscriptions of
 * the graph. Operations are the client's.
 */
export function asyncApi(schema: GraphQLSchema, streams: StreamOperations): JsonSchema {
  const topics = Object.entries(topicKinds).map(([kind, { description }]): [string, Message] => [
    kind,
    { summary: `${kind}: ${description}.`, payload: dataSchema(schema, streams.get(kind)!) },
  ]);
  const events: Record<string, Message> = { ...streamEvents, ...Object.fromEntries(topics) };
  return {
    asyncapi: '3.0.0',
    info: {
      title: 'Tapegraph streams',
      version: '2',
      description: 'Live market data. Prices are dollars, times are epoch milliseconds. null means unknown.',
      tags: [{ name: 'market data', description: 'Quotes, bars, GEX captures, large trades and cross-sections.' }],
    },
    defaultContentType: 'application/json',
    servers: {
      gateway: {
        host: '{host}',
        protocol: 'https',
        description: 'The gateway that serves this document. WebSockets use wss.',
        variables: { host: { default: 'localhost:4000' } },
        security: [
          reference('components', 'securitySchemes', 'bearer'),
          reference('components', 'securitySchemes', 'apiKey'),
        ],
      },
    },
    channels: channelsOf(events),
    operations: {
      receiveEvents: operation('stream', 'receive', 'Follows topics.', Object.keys(events)),
      sendControl: operation('ws', 'send', 'Authenticates and subscribes.', Object.keys(sentControl)),
      receiveFrames: operation('ws', 'receive', 'Receives answers and frames.', Object.keys(receivedControl)),
      subscribe: operation('graphql', 'send', 'Subscribes to a document.', ['subscribe']),
      receiveNext: operation('graphql', 'receive', 'Receives the events of a document.', ['next']),
    },
    components: {
      securitySchemes: {
        bearer: { type: 'http', scheme: 'bearer', description: 'An API key or a session token.' },
        apiKey: { type: 'httpApiKey', name: 'X-API-Key', in: 'header', description: 'An API key.' },
      },
    },
  };
}
