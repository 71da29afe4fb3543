import type { GraphQLSchema } from 'graphql';
import { dataSchema } from '../contract/answer-schema.ts';
import type { JsonSchema } from '../contract/json-schema.ts';
import { errorResponses } from '../openapi/errors.ts';
import { streamHeaders } from '../openapi/headers.ts';
import type { StreamOperations } from './stream.ts';
import { topicKinds } from './stream-topics.ts';

function topicLine([kind, { option, all, description }]: [string, (typeof topicKinds)[string]]): string {
  const form = `${kind}:${all ? 'SYMBOL or *' : 'SYMBOL'}${option === null ? '' : '[:option]'}`;
  return `${form}: ${description}${option === null ? '' : ` (option: ${option})`}`;
}

/** Parameters of the stream. */
const parameters: JsonSchema[] = [
  {
    name: 'topics',
    in: 'query',
    required: true,
    description: `Topics separated by commas. A topic without a kind has the kind of the topic before it. ${Object.entries(topicKinds).map(topicLine).join('. ')}.`,
    schema: { type: 'string' },
    example: 'quotes:SPY,QQQ,bars:SPY:1m,large-trades:*:250000',
  },
  {
    name: 'since',
    in: 'query',
    required: false,
    description:
      'The time of the last event received before a disconnect: epoch ms, YYYY-MM-DD, or YYYY-MM-DDTHH:MM[:SS] in tz. Events after it are sent first. A time before the stored data is 400, which names the earliest. Last-Event-ID takes precedence.',
    schema: { type: 'string' },
  },
  {
    name: 'from',
    in: 'query',
    required: false,
    description:
      'Replays the topics from this time on: epoch ms, YYYY-MM-DD (its start), or YYYY-MM-DDTHH:MM[:SS] in tz. The events are those that a live stream would have sent; the last is `end` with the reason completed.',
    schema: { type: 'string' },
  },
  {
    name: 'to',
    in: 'query',
    required: false,
    description: 'End of the replay, inclusive, at most 31 days after from. Default, and latest: now.',
    schema: { type: 'string' },
  },
  {
    name: 'speed',
    in: 'query',
    required: false,
    description: 'Seconds of the past per second of a replay, from 0.1 to 3600. Default: 1.',
    schema: { type: 'number' },
  },
  {
    name: 'tz',
    in: 'query',
    required: false,
    description: 'IANA time zone of times without an offset. Default: America/New_York.',
    schema: { type: 'string' },
  },
  {
    name: 'Last-Event-ID',
    in: 'header',
    required: false,
    description: 'The id of the last event of an earlier stream of the same topics.',
    schema: { type: 'string' },
  },
];

/** The stream as an OpenAPI operation. */
export function streamOperation(schema: GraphQLSchema, operations: StreamOperations): JsonSchema {
  const live = [...operations].filter(([kind]) => Object.hasOwn(topicKinds, kind));
  const events = Object.fromEntries(live.map(([kind, operation]) => [kind, dataSchema(schema, operation)]));
  return {
    operationId: 'stream',
    tags: ['market.live'],
    summary: 'Live stream',
    description: [
      'Server-sent events. Each event is a JSON row as in the route of the same name; the event name is the kind of the topic.',
      'The first event is `ready` with the topics. Send the id of the last event as Last-Event-ID to resume after it, as far as events are retained.',
      'If the server ends the stream, the last event is `end`: {reason, error}, with reason shutdown, too_slow, not_entitled or failed; completed at the end of a replay.',
    ].join(' '),
    parameters,
    responses: {
      200: {
        description: 'The events, until the client disconnects.',
        headers: streamHeaders,
        content: {
          'text/event-stream': {
            schema: {
              type: 'string',
              description: 'Events. The data of each is JSON of its schema in x-events.',
              contentMediaType: 'text/event-stream',
              contentSchema: { anyOf: Object.values(events) },
            },
            'x-events': events,
          },
        },
      },
      ...errorResponses([400, 401, 403, 404, 414, 429, 500, 502, 503]),
    },
    'x-graphql-operation': [...operations.values()].map(({ source }) => source).join('\n'),
  };
}
