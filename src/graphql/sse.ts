import type { IncomingMessage, ServerResponse } from 'node:http';
import type { ExecutionArgs, GraphQLError } from 'graphql';
import type { Charged } from '../access/admission.ts';
import type { Caller } from '../access/caller.ts';
import type { EndpointServices } from '../access/endpoint-services.ts';
import { recheckCaller, rightsOf } from '../access/entitlement/entitlement.ts';
import { EventStream } from '../platform/http/event-stream.ts';
import { type Lifetime, lifetime } from '../platform/runtime/lifetime.ts';
import { type Failure, internal, invalidRequest } from '../platform/wire/failure.ts';
import { publicError } from './errors.ts';
import { endError, type LiveAnswers, openAnswers } from './execution/live-answers.ts';
import { requestErrorOf } from './request-error.ts';
import { isMarketData } from './scope-groups.ts';

/** An admitted subscription. */
export interface Subscribed {
  answers: LiveAnswers;
  /** Sends a heartbeat on its connection. */
  beat: () => void;
  /** Frees its resources; idempotent. */
  close: () => void;
  /** Its charge, and its limit in points. */
  charged?: Charged & { prediction: { points: number } };
}

/** Subscription that was admitted. */
interface AskedSubscription {
  caller: Caller;
  groups: readonly string[];
  query: string;
  /** Coerced by `coerceVariables`; those that the document does not declare are dropped. */
  variables: Record<string, unknown>;
  /** Its predicted points. */
  points: number;
}

/** Throws 400 for a request that does not accept an event stream. */
export function requireEventStream({ headers }: IncomingMessage): void {
  const accept = headers.accept ?? '*/*';
  if (/text\/event-stream|text\/\*|\*\/\*/i.test(accept)) return;
  throw requestErrorOf(invalidRequest('A subscription needs an event stream: send Accept: text/event-stream.'));
}

/**
 * Opens an admitted subscription. It belongs to the caller of `request` and ends with `life`, which it also ends
 * itself.
 */
export async function subscribe(
  services: EndpointServices,
  args: ExecutionArgs,
  { caller: first, groups, query, variables, points }: AskedSubscription,
  request: IncomingMessage,
  life: Lifetime,
): Promise<Subscribed | { errors: readonly GraphQLError[] }> {
  let caller = first;
  const shares = isMarketData(groups);
  const operationName = args.operationName ?? null;
  const asked = JSON.stringify([operationName, variables, query]);
  const answers = await openAnswers({
    schema: services.schema,
    document: args.document,
    operationName,
    variables,
    context: { ...services.context(caller, life.onEnd), pricedPoints: points },
    contextOf() {
      const { onEnd, end } = lifetime();
      return { context: services.context(caller, onEnd), end };
    },
    sharedKey: () => (shares ? rightsOf(caller) + asked : null),
    write(result) {
      const toPublic = (error: GraphQLError) => publicError(error, (failure) => services.report(request, failure));
      return JSON.stringify(result.errors ? { ...result, errors: result.errors.map(toPublic) } : result);
    },
  });
  if ('errors' in answers) {
    life.end();
    return answers;
  }
  const { source } = answers;
  // Runs before anything is sent: a client that sees the stream open misses no event after that.
  await source.start;
  if (source.ended) {
    life.end();
    return { errors: [requestErrorOf(source.ended.failure)] };
  }
  const subscribed: Subscribed = { answers, beat: () => {}, close: life.end };
  const check = (known: Caller) => source.check(known);
  life.onEnd(() => void source.return());
  life.onEnd(
    services.attachStream({
      beat: () => subscribed.beat(),
      async recheck() {
        const now = await recheckCaller(() => services.admission.authenticate(request), check);
        if ('refused' in now) source.end({ reason: 'not_entitled', failure: now.refused });
        else caller = now.caller;
      },
      end: (end) => source.end(end),
    }),
  );
  return subscribed;
}

/** Reason for which the server ended the subscription, as its last answer; '' if it did not. */
function lastAnswer({ source }: LiveAnswers): string {
  return source.ended ? JSON.stringify({ errors: [endError(source.ended)] }) : '';
}

/** Passes every answer to `send`, one after the other, until the end or an answer that fails. */
export async function eachAnswer(
  { answers }: Subscribed,
  send: (json: string) => Promise<void>,
  report: (failure: Failure) => void,
): Promise<void> {
  try {
    for (let message = await answers.next(); message; message = await answers.next()) await send(message.content);
  } catch (error) {
    const failure = internal(error);
    report(failure);
    answers.source.end({ reason: 'failed', failure });
  }
}

const nextFrame = (json: string) => `event: next\ndata: ${json}\n\n`;

/** Answers a subscription on a connection of its own, and resolves when it is over. */
export async function sendAnswers(
  subscribed: Subscribed,
  request: IncomingMessage,
  response: ServerResponse,
  report: (failure: Failure) => void,
): Promise<void> {
  const out = new EventStream(request, response);
  subscribed.beat = () => out.beat();
  void out.closed.then(subscribed.close);
  // The end is noticed immediately, also while a slow reader blocks the stream.
  await Promise.race([
    eachAnswer(subscribed, (json) => out.send(nextFrame(json)), report),
    subscribed.answers.source.over,
  ]);
  const last = lastAnswer(subscribed.answers);
  out.end(`${last === '' ? '' : nextFrame(last)}event: complete\ndata:\n\n`);
  await out.closed;
}
