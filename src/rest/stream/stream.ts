import { type Request, type RequestHandler, type Response, Router } from 'express';
import type { GraphQLSchema } from 'graphql';
import type { Caller } from '../../access/caller.ts';
import type { RateState } from '../../access/rate.ts';
import { recheckCaller, rightsOf } from '../../access/recheck.ts';
import { type EventStream, openEventStream } from '../../domain/event-stream.ts';
import { internal, methodNotAllowed } from '../../domain/failure.ts';
import { type Lifetime, lifetime } from '../../domain/lifetime.ts';
import { endError, type LiveAnswers, openAnswers, type StreamEnd } from '../../schema/live.ts';
import { failureOf, type ReadOperation, readOperation } from '../operation.ts';
import { readParams, text } from '../params.ts';
import { sendFailure } from '../respond.ts';
import { asFailure, authenticatedCaller, charge, type RestDoor } from '../router.ts';
import { readEventId, topicsTag, writeEventId } from './event-id.ts';
import { type AskedTopics, readTopics, type Topic, topicKinds } from './topics.ts';

/** What the stream needs from the server. */
export interface StreamDoor extends Pick<RestDoor, 'authenticate' | 'count' | 'context' | 'note' | 'report'> {
  consume: (caller: Caller, cost: number) => Promise<RateState>;
  /** Takes the caller's place among those with open streams, given back by what it returns; 429 when there is none left. */
  takeStreamPlace: (caller: Caller) => () => void;
  attachStream: (stream: { beat(): void; recheck(): Promise<void>; end: (end: StreamEnd) => void }) => () => void;
}

/** The operations of the kinds of topics. */
export type StreamOperations = ReadonlyMap<string, ReadOperation>;

/** Reads and validates the operations of all kinds of topics; one that does not fit the schema stops the start. */
export function streamOperations(schema: GraphQLSchema): StreamOperations {
  return new Map(
    Object.entries(topicKinds).map(([kind, { operation }]) => [kind, readOperation(schema, `./stream/${operation}`)]),
  );
}

export const streamParams = { topics: text(8000) };

interface Asking {
  schema: GraphQLSchema;
  operations: StreamOperations;
  door: StreamDoor;
  /** Who it is for, as of the last time it was asked. */
  caller: Caller;
  life: Lifetime;
}

/** Opens one of the subscriptions; throws what it is refused for. */
async function openTopic(asking: Asking, { kind, variables }: Topic, after: string | null): Promise<LiveAnswers> {
  const { schema, operations, door, life } = asking;
  const asked = kind + JSON.stringify(variables);
  const answers = await openAnswers({
    schema,
    document: operations.get(kind)!.document,
    operationName: null,
    variables,
    context: { ...door.context(asking.caller, life.onEnd), after },
    contextOf() {
      const { onEnd, end } = lifetime();
      return { context: door.context(asking.caller, onEnd), end };
    },
    sharedKey: () => rightsOf(asking.caller) + asked,
    write(result) {
      if (result.errors?.length) throw failureOf(result.errors[0]!);
      return JSON.stringify(result.data!.data);
    },
  });
  if ('errors' in answers) throw failureOf(answers.errors[0]!);
  life.onEnd(() => void answers.source.return());
  return answers;
}

/** Opens all of a stream's subscriptions; when one is refused, none stays open. */
async function openTopics(
  asking: Asking,
  { topics }: AskedTopics,
  after: readonly (string | null)[],
): Promise<LiveAnswers[]> {
  const opened = await Promise.allSettled(topics.map((topic, i) => openTopic(asking, topic, after[i]!)));
  const refused = opened.find((each) => each.status === 'rejected');
  if (refused) throw refused.reason;
  const all = opened.map((each) => (each as PromiseFulfilledResult<LiveAnswers>).value);
  for (const { source } of all) {
    await source.start;
    if (source.ended) throw source.ended.failure;
  }
  return all;
}

const frame = (event: string, id: string | null, data: string) =>
  `event: ${event}\n${id === null ? '' : `id: ${id}\n`}data: ${data}\n\n`;

/** Tells every event of every topic as fast as the reader reads; resolves with the end's reason when one of them ends, null when the reader left. */
async function tellAll(
  out: EventStream,
  { names, topics }: AskedTopics,
  all: readonly LiveAnswers[],
): Promise<StreamEnd | null> {
  const tag = topicsTag(names);
  const cursors = await Promise.all(all.map(({ source }) => source.start));
  // From here on nothing is missed: a reader that is cut off before the first event goes on from this id.
  await out.send(() => frame('ready', writeEventId(tag, cursors), JSON.stringify({ topics: names })));
  const tell = async ({ next }: LiveAnswers, index: number) => {
    for (let message = await next(); message; message = await next()) {
      const { json, cursor } = message;
      // The id says what has been sent when this is, not when it was made.
      await out.send(() => {
        cursors[index] = cursor;
        return frame(topics[index]!.kind, writeEventId(tag, cursors), json);
      });
    }
  };
  // One that is ended is noticed at once, also while its reader keeps everything waiting.
  await Promise.race(all.flatMap((answers, index) => [tell(answers, index), answers.source.over]));
  return all.find(({ source }) => source.ended)?.source.ended ?? null;
}

async function serve(
  { schema, operations, door }: Pick<Asking, 'schema' | 'operations' | 'door'>,
  request: Request,
  response: Response,
) {
  const caller = authenticatedCaller(await door.authenticate(request), true);
  const life = lifetime();
  response.once('close', life.end);
  if (response.closed) life.end();
  let asked: AskedTopics | null = null;
  try {
    try {
      asked = readTopics(readParams(streamParams, request.query).topics);
    } finally {
      // As many requests as the routes of the same names would be; one when it is refused before that is known.
      const cost = asked?.topics.length ?? 1;
      await charge(door, caller, response, cost);
      door.note(request, { cost });
    }
    const sent = request.headers['last-event-id'];
    const after =
      typeof sent === 'string' && sent !== ''
        ? readEventId(topicsTag(asked.names), asked.topics.length, sent)
        : asked.topics.map(() => null);
    life.onEnd(door.takeStreamPlace(caller));
    const asking = { schema, operations, door, caller, life };
    const all = await openTopics(asking, asked, after);
    for (const group of new Set(asked.topics.map(({ kind }) => topicKinds[kind]!.scopeGroup)))
      door.count(caller, group);
    await answer(asking, asked, all, request, response);
  } catch (error) {
    life.end();
    throw error;
  }
}

async function answer(
  asking: Asking,
  asked: AskedTopics,
  all: readonly LiveAnswers[],
  request: Request,
  response: Response,
): Promise<void> {
  const { door, life } = asking;
  const end = (reason: StreamEnd) => {
    for (const { source } of all) source.end(reason);
  };
  let out: EventStream | null = null;
  life.onEnd(
    door.attachStream({
      beat: () => out?.beat(),
      end,
      async recheck() {
        const check = async (caller: Caller) => {
          for (const { source } of all) await source.check(caller);
        };
        const now = await recheckCaller(asking.caller, () => door.authenticate(request), check);
        if ('refused' in now) end({ reason: 'not_entitled', failure: now.refused });
        else asking.caller = now.caller;
      },
    }),
  );
  response.vary('Authorization');
  out = openEventStream(request, response);
  const ended = await tellAll(out, asked, all).catch((error: unknown): StreamEnd => {
    door.report(request, asFailure(error));
    return { reason: 'failed', failure: internal(error) };
  });
  if (ended === null) return out.end('');
  const { message, extensions } = endError(ended);
  const { reason, ...told } = extensions;
  out.end(frame('end', null, JSON.stringify({ reason, error: { ...told, message } })));
  life.end();
}

/** `GET /v2/stream`. */
export function streamRouter(schema: GraphQLSchema, operations: StreamOperations, door: StreamDoor): Router {
  const router = Router({ caseSensitive: true });
  const handle: RequestHandler = (request, response) => {
    // A stream has no end to tell its length by: what is asked with HEAD has no answer.
    if (request.method !== 'GET') throw methodNotAllowed(request.method, ['GET']);
    serve({ schema, operations, door }, request, response).catch((error: unknown) => {
      const failure = asFailure(error);
      if (failure.status >= 500) door.report(request, failure);
      door.note(request, { code: failure.code });
      sendFailure(response, failure);
    });
  };
  router.all('/v2/stream', handle);
  return router;
}
