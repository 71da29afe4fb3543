import { createHash } from 'node:crypto';
import { type Request, type RequestHandler, type Response, Router } from 'express';
import type { GraphQLSchema } from 'graphql';
import type { Caller } from '../../access/caller.ts';
import type { EndpointServices } from '../../access/endpoint-services.ts';
import { recheckCaller } from '../../access/entitlement/entitlement.ts';
import { endError, type LiveAnswers } from '../../graphql/execution/live-answers.ts';
import { EventStream } from '../../platform/http/event-stream.ts';
import { tellReadInstant } from '../../platform/http/read-instant.ts';
import { requestLife } from '../../platform/http/request-life.ts';
import {
  type Failure,
  internal,
  invalidParameter,
  methodNotAllowed,
  renamedParameter,
} from '../../platform/wire/failure.ts';
import type { StreamEnd } from '../../platform/wire/open-stream.ts';
import { type ReadOperation, readOperation } from '../contract/operation.ts';
import { pointInTime, readParams, speed, text, timeZone } from '../contract/params.ts';
import { sendFailure } from '../http/respond.ts';
import { asFailure } from '../http/router.ts';
import { type Following, followTopic } from './follow-topic.ts';
import { type AskedTopics, readTopics, type Topic, topicKinds } from './stream-topics.ts';

/** The tag that binds an id to its topics, in their order. */
function topicsTag(names: readonly string[]): string {
  return createHash('sha256').update(names.join(',')).digest('base64url').slice(0, 8).replaceAll('-', '.');
}

/** The id of an event: the reader's position in each of the stream's topics. */
function writeEventId(tag: string, cursors: readonly string[]): string {
  return [tag, ...cursors].join('-');
}

/** The reader's positions; null for a topic without one. Throws 400 for an id of other topics. */
function readEventId(tag: string, count: number, id: string): (string | null)[] {
  const [bound, ...cursors] = id.split('-');
  if (bound !== tag || cursors.length !== count)
    throw invalidParameter('Last-Event-ID', 'expected the id of an event of a stream of the same topics');
  return cursors.map((cursor) => (cursor === '' ? null : cursor));
}

/** Parameters of `GET /v2/stream`. */
const streamParams = {
  topics: text(8000),
  since: pointInTime.optional(),
  from: pointInTime.optional(),
  to: pointInTime.optional(),
  speed: speed.optional(),
  tz: timeZone.optional(),
};

/** A requested stream. */
interface AskedStream extends AskedTopics {
  /** The subscriptions to follow: one per topic, or the replay of all. */
  followed: Topic[];
  /** The instant since which their events are sent. */
  since: { since?: string | undefined; tz?: string | undefined };
  /** The groups that its usage counts in. */
  groups: readonly string[];
  /** Predicted points of an operator's operation. */
  points?: number;
}

/** Kind of the subscription that replays topics. */
const replayKind = 'replay';

/** A stream's topics as the graph's replay has them. */
function replayTopics({ kind, variables }: Topic): Record<string, unknown>[] {
  const { symbols, symbol, top: topStrikes, ...options } = variables;
  const named = kind.replaceAll('-', '_');
  const each = Array.isArray(symbols) ? symbols : [symbol];
  return each.map((one) => ({ kind: named, symbol: one, ...(topStrikes !== undefined && { topStrikes }), ...options }));
}

const groupsOf = ({ topics }: AskedTopics) => [...new Set(topics.map(({ kind }) => topicKinds[kind]!.scopeGroup))];

/** Reads the query of a stream. Throws 400 naming the parameter. */
function readStream(query: Record<string, unknown>): AskedStream {
  const { topics: text, since, from, to, speed: rate, tz } = readParams(streamParams, query);
  const topics = readTopics(text);
  const asked = { ...topics, groups: groupsOf(topics) };
  if (from === undefined) {
    if (to !== undefined) throw invalidParameter('from', 'is required with to');
    if (rate !== undefined) throw invalidParameter('from', 'is required with speed');
    return { ...asked, followed: asked.topics, since: { since, tz } };
  }
  if (since !== undefined) throw invalidParameter('since', 'expected only one of since and from');
  const variables = { topics: asked.topics.flatMap(replayTopics), from, to, tz, speed: rate ?? 1 };
  return { ...asked, followed: [{ kind: replayKind, variables }], since: {} };
}

/** The operations of the kinds of topics, and of replays. */
export type StreamOperations = ReadonlyMap<string, ReadOperation>;

/** Reads and validates the operations of all kinds of topics. Throws at startup if one does not fit the schema. */
export function streamOperations(schema: GraphQLSchema): StreamOperations {
  return new Map(
    [...Object.entries(topicKinds), [replayKind, { operation: 'replay.graphql' }] as const].map(
      ([kind, { operation }]) => [kind, readOperation(schema, `../stream/${operation}`)],
    ),
  );
}

interface Asking extends Following {
  operations: StreamOperations;
}

/** An event as it is sent: its name, and its data as JSON. */
interface Written {
  event: string;
  data: string;
}

/** Writes an event of the replay: as its topic's subscription sends it, or the end. */
function writeReplayed(data: unknown): Written {
  const { kind, at, ...values } = data as { kind: string; at: number } & Record<string, unknown>;
  if (kind === 'end') return { event: 'end', data: JSON.stringify({ reason: 'completed', at }) };
  return { event: kind.replaceAll('_', '-'), data: JSON.stringify(values[kind]) };
}

const writerOf = (kind: string) =>
  kind === replayKind ? writeReplayed : (data: unknown): Written => ({ event: kind, data: JSON.stringify(data) });

/** Opens one of the subscriptions; throws the reason of a rejection. */
function openTopic(
  asking: Asking,
  { kind, variables }: Topic,
  { since, points }: Pick<AskedStream, 'since' | 'points'>,
  after: string | null,
): Promise<LiveAnswers<Written>> {
  const operation = asking.operations.get(kind)!;
  return followTopic(asking, {
    name: operation.key ?? kind,
    operation,
    variables,
    since,
    after,
    points,
    write: writerOf(kind),
  });
}

/** Positions are sent in this header. */
const named = (failure: Failure) => renamedParameter(failure, 'after', 'Last-Event-ID');

/** The tag of a stream's ids. Those of a replay are of no live stream. */
const tagOf = ({ names, followed }: AskedStream) =>
  topicsTag(followed[0]?.kind === replayKind ? [replayKind, ...names] : names);

/** Opens all of a stream's subscriptions. If one is rejected, the others are closed. */
async function openTopics(
  asking: Asking,
  asked: AskedStream,
  after: readonly (string | null)[],
): Promise<LiveAnswers<Written>[]> {
  const opened = await Promise.allSettled(asked.followed.map((topic, i) => openTopic(asking, topic, asked, after[i]!)));
  const refused = opened.find((each) => each.status === 'rejected');
  if (refused) throw named(asFailure(refused.reason));
  const all = opened.map((each) => (each as PromiseFulfilledResult<LiveAnswers<Written>>).value);
  for (const { source } of all) {
    await source.start;
    if (source.ended) throw named(source.ended.failure);
  }
  return all;
}

const frame = (event: string, id: string | null, data: string) =>
  `event: ${event}\n${id === null ? '' : `id: ${id}\n`}data: ${data}\n\n`;

/**
 * Sends every event of every topic as fast as the reader reads. Resolves with the reason if one of them ends, null if
 * the reader disconnected.
 */
async function sendAll(
  out: EventStream,
  asked: AskedStream,
  all: readonly LiveAnswers<Written>[],
): Promise<StreamEnd | null> {
  const { names } = asked;
  const tag = tagOf(asked);
  const cursors = await Promise.all(all.map(({ source }) => source.start));
  // Nothing is missed from here: a reader that is disconnected before the first event resumes from this id.
  await out.send(() => frame('ready', writeEventId(tag, cursors), JSON.stringify({ topics: names })));
  const send = async ({ next }: LiveAnswers<Written>, index: number) => {
    for (let message = await next(); message; message = await next()) {
      const { content, cursor } = message;
      // The id reflects what was sent when the event is written, not when it was built.
      await out.send(() => {
        cursors[index] = cursor;
        // A replay is over at its end: there is nothing to resume.
        return frame(content.event, content.event === 'end' ? null : writeEventId(tag, cursors), content.data);
      });
    }
  };
  // The end is noticed immediately, also while a slow reader blocks the stream.
  await Promise.race(all.flatMap((answers, index) => [send(answers, index), answers.source.over]));
  return all.find(({ source }) => source.ended)?.source.ended ?? null;
}

/** A kind of stream: its operations, and the reader of a request. */
export interface StreamKind {
  operations: StreamOperations;
  /** Reads a request, and its cost in requests. Throws 400, or 403 for a caller that may not open it. */
  read: (request: Request, caller: Caller) => { asked: AskedStream; cost: number };
}

/** Answers a request with a stream of events. */
export async function serveStream(
  services: EndpointServices,
  { operations, read }: StreamKind,
  request: Request,
  response: Response,
): Promise<void> {
  const { admission } = services;
  let asked!: AskedStream;
  const { caller } = await admission.admit(request, response, {
    cost(caller) {
      const found = read(request, caller);
      asked = found.asked;
      return found.cost;
    },
  });
  const life = requestLife(response);
  try {
    const sent = request.headers['last-event-id'];
    const after =
      typeof sent === 'string' && sent !== ''
        ? readEventId(tagOf(asked), asked.followed.length, sent)
        : asked.followed.map(() => null);
    life.onEnd(admission.takeStreamSlot(caller));
    const asking = { services, operations, caller, life };
    const all = await openTopics(asking, asked, after);
    admission.count(caller, asked.groups);
    await answer(asking, asked, all, request, response);
  } catch (error) {
    life.end();
    throw error;
  }
}

async function answer(
  asking: Asking,
  asked: AskedStream,
  all: readonly LiveAnswers<Written>[],
  request: Request,
  response: Response,
): Promise<void> {
  const { services, life } = asking;
  const end = (reason: StreamEnd) => {
    for (const { source } of all) source.end(reason);
  };
  let out: EventStream | null = null;
  life.onEnd(
    services.attachStream({
      beat: () => out?.beat(),
      end,
      async recheck() {
        const check = async (caller: Caller) => {
          for (const { source } of all) await source.check(caller);
        };
        const now = await recheckCaller(() => services.admission.authenticate(request), check);
        if ('refused' in now) end({ reason: 'not_entitled', failure: now.refused });
        else asking.caller = now.caller;
      },
    }),
  );
  tellReadInstant(response);
  out = new EventStream(request, response);
  const ended = await sendAll(out, asked, all).catch((error: unknown): StreamEnd => {
    services.report(request, asFailure(error));
    return { reason: 'failed', failure: internal(error) };
  });
  if (ended === null) return out.end('');
  const { message, extensions } = endError({ ...ended, failure: named(ended.failure) });
  const { reason, ...details } = extensions;
  out.end(frame('end', null, JSON.stringify({ reason, error: { ...details, message } })));
  life.end();
}

/** `GET /v2/stream`. */
export function streamRouter(services: EndpointServices, operations: StreamOperations): Router {
  const router = Router({ caseSensitive: true });
  // Costs as many requests as the routes of the same names.
  const read = ({ query }: Request) => {
    const asked = readStream(query);
    return { asked, cost: asked.topics.length };
  };
  const handle: RequestHandler = (request, response) => {
    // A stream has no known length, so HEAD is not supported.
    if (request.method !== 'GET') throw methodNotAllowed(request.method, ['GET']);
    serveStream(services, { operations, read }, request, response).catch((error: unknown) => {
      const failure = asFailure(error);
      if (failure.status >= 500) services.report(request, failure);
      services.note(request, { code: failure.code });
      sendFailure(response, failure);
    });
  };
  router.all('/v2/stream', handle);
  return router;
}
