import { invalidRequest } from '../platform/wire/failure.ts';

// The SDK validates every message through schemas, synchronously: 30 ms for 9,000 keys that nothing reads, 240 ms for
// 9,000 capabilities. It gets only the parts of a message that it reads; a call's arguments are set aside.

/** Params that a message can have; all others are ignored. */
const knownParams = [
  ...['_meta', 'cursor', 'name', 'arguments', 'uri', 'ref', 'argument'],
  ...['protocolVersion', 'capabilities', 'clientInfo', 'requestId', 'reason'],
];

/** Values that the params of a message may hold, without a call's arguments. */
const mostValues = 200;

type Arguments = Record<string, unknown>;

/** Messages reduced for the SDK. */
export interface LightMessages {
  /** One message, or a batch of them. */
  message: unknown;
  /** The original arguments of a call, by those that the SDK has read. */
  argumentsOf(read: Arguments): Arguments;
}

/** Number of values in `value`, counted up to `most`. */
function countUpTo(value: unknown, most: number): number {
  if (typeof value !== 'object' || value === null) return 1;
  let count = 1;
  for (const key in value) {
    if (count >= most) return most;
    count += countUpTo((value as Record<string, unknown>)[key], most - count);
  }
  return count;
}

const isObject = (value: unknown): value is Record<string, unknown> =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

/** A message's envelope without params: this server sends no requests, so answers of a client are irrelevant. */
function envelopeOf(message: Record<string, unknown>): Record<string, unknown> {
  const { jsonrpc, id, method } = message;
  const envelope: Record<string, unknown> = { jsonrpc };
  if (id !== undefined) envelope.id = id;
  if (typeof method === 'string') envelope.method = method;
  else if ('result' in message) envelope.result = {};
  else envelope.error = { code: 0, message: '' };
  return envelope;
}

/**
 * The parts of messages that the SDK reads, in a time that does not depend on the rest. Throws 400 for one whose params
 * hold too many values.
 */
export function lightMessages(received: unknown): LightMessages {
  const kept: Arguments[] = [];

  function lightParams(sent: Record<string, unknown>, method: unknown): Record<string, unknown> {
    const params: Record<string, unknown> = {};
    for (const name of knownParams) if (Object.hasOwn(sent, name)) params[name] = sent[name];
    // The arguments of a prompt are a few texts.
    if (method !== 'prompts/get' && isObject(params.arguments))
      params.arguments = { kept: kept.push(params.arguments) - 1 };
    else if (Array.isArray(params.arguments)) params.arguments = [];
    if (countUpTo(params, mostValues + 1) > mostValues)
      throw invalidRequest(`The params of a message have more than ${mostValues} values, without arguments.`);
    return params;
  }

  function light(message: unknown): unknown {
    const sent = message as Record<string, unknown>;
    const envelope = envelopeOf(sent);
    if ('method' in envelope && 'params' in sent)
      envelope.params = isObject(sent.params) ? lightParams(sent.params, sent.method) : sent.params;
    return envelope;
  }

  const message = Array.isArray(received) ? received.map(light) : light(received);
  return { message, argumentsOf: (read) => kept[read.kept as number] ?? {} };
}
