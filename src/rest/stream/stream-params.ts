import { invalidParameter } from '../../platform/wire/failure.ts';
import { pointInTime, readParams, speed, text, timeZone } from '../contract/params.ts';
import { type AskedTopics, readTopics, type Topic, topicKinds } from './stream-topics.ts';

/** Parameters of `GET /v2/stream`. */
export const streamParams = {
  topics: text(8000),
  since: pointInTime.optional(),
  from: pointInTime.optional(),
  to: pointInTime.optional(),
  speed: speed.optional(),
  tz: timeZone.optional(),
};

/** A requested stream. */
export interface AskedStream extends AskedTopics {
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
export const replayKind = 'replay';

/** A stream's topics as the graph's replay has them. */
function replayTopics({ kind, variables }: Topic): Record<string, unknown>[] {
  const { symbols, symbol, top: topStrikes, ...options } = variables;
  const named = kind.replaceAll('-', '_');
  const each = Array.isArray(symbols) ? symbols : [symbol];
  return each.map((one) => ({ kind: named, symbol: one, ...(topStrikes !== undefined && { topStrikes }), ...options }));
}

const groupsOf = ({ topics }: AskedTopics) => [...new Set(topics.map(({ kind }) => topicKinds[kind]!.scopeGroup))];

/** Reads the query of a stream. Throws 400 naming the parameter. */
export function readStream(query: Record<string, unknown>): AskedStream {
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
