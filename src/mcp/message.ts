import type { IncomingMessage } from 'node:http';
import { type JSONRPCMessage, ProtocolErrorCode } from '@modelcontextprotocol/server';
import type { Response } from 'express';
import { bodyBytes, utf8Text } from '../platform/http/request-body.ts';
import { type Failure, invalidRequest } from '../platform/wire/failure.ts';
import { type JsonSize, jsonSize, mostJsonValues } from '../platform/wire/json-chunks.ts';
import { clipped } from '../platform/wire/printed-value.ts';
import { deepestJson } from '../platform/wire/stored-text.ts';

/** Bytes of a request; a larger journal import goes to the route itself. */
const mostBytes = 1024 * 1024;
/** Maximum number of messages in a batch, each of which can be a call. */
export const mostMessages = 20;

/** JSON-RPC's codes for invalid messages. */
const parseError = -32_700;
const invalidMessage = -32_600;

const tooDeep = `The message is nested more than ${deepestJson} deep.`;
const notMessage = 'Expected a JSON-RPC 2.0 message, or a batch of them.';
const notJson = 'The body is not JSON.';

/** True if a message calls a tool by name: it is charged when the tool runs. */
function isToolCall(message: unknown): boolean {
  const { method, params } = (message ?? {}) as { method?: unknown; params?: { name?: unknown } | null };
  return method === 'tools/call' && typeof params?.name === 'string';
}

/**
 * True if a value has the form of a JSON-RPC message. The SDK's schemas take ten times as long to reject a large value.
 */
function isMessage(value: unknown): boolean {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return false;
  const { jsonrpc, method } = value as { jsonrpc?: unknown; method?: unknown };
  return jsonrpc === '2.0' && (typeof method === 'string' || 'result' in value || 'error' in value);
}

/** Throws 400 if two requests of a batch have the same id, which identifies the answers. */
function rejectRepeatedIds(messages: readonly unknown[]): void {
  const ids = new Set<unknown>();
  for (const message of messages) {
    const { id, method } = message as { id?: unknown; method?: unknown };
    if (id === undefined || method === undefined) continue;
    if (ids.has(id)) throw invalidRequest(`Two messages of the batch have the id ${clipped(JSON.stringify(id), 40)}.`);
    ids.add(id);
  }
}

/** The messages of a request. */
interface Received {
  messages: LightMessages;
  size: JsonSize;
  /** Cost of its messages besides the tools they call, in requests. */
  cost: number;
}

/**
 * Reads the messages of a request. Throws 413, 415, or 400 for a body that is not JSON, is nested too deep, or has too
 * many messages. `weigh` gets its size, which is charged also if it is rejected.
 */
export async function receiveMessages(
  request: IncomingMessage,
  caller: string,
  weigh: (size: JsonSize) => void,
): Promise<Received> {
  const bytes = await bodyBytes(request, { maxBytes: mostBytes, mediaTypes: ['application/json'], caller });
  weigh({ bytes: bytes.length, values: 0 });
  const size = jsonSize(bytes, deepestJson);
  if (size === 'too-deep') throw invalidRequest(tooDeep);
  if (size === 'too-many-values')
    throw invalidRequest(`The message has more than ${mostJsonValues.toLocaleString('en-US')} values.`);
  weigh(size);
  const text = utf8Text(bytes);
  let message: unknown;
  try {
    message = JSON.parse(text);
  } catch {
    throw invalidRequest(notJson);
  }
  const each: unknown[] = Array.isArray(message) ? message : [message];
  if (each.length > mostMessages)
    throw invalidRequest(`The batch has ${each.length} messages; at most ${mostMessages} are allowed.`);
  if (!each.every(isMessage)) throw invalidRequest(notMessage);
  rejectRepeatedIds(each);
  const cost = Math.max(Number(each.length === 0), each.filter((one) => !isToolCall(one)).length);
  return { messages: lightMessages(message), size, cost };
}

/** Answers a request with unreadable messages, as JSON-RPC prescribes. */
export function rejectMessages(response: Response, { status, code, message, details, headers }: Failure): void {
  response.setHeaders(new Map(Object.entries(headers)));
  const rpcCode = message === notJson ? parseError : invalidMessage;
  response
    .status(status)
    .json({ jsonrpc: '2.0', id: null, error: { code: rpcCode, message, data: { code, details } } });
}

// The SDK validates every message through schemas, synchronously: 30 ms for 9,000 keys that nothing reads, 240 ms for
// 9,000 capabilities. It gets only the parts of a message that it reads; a call's arguments are set aside.

/** Params that a message can have; all others are ignored. */
const knownParams = [
  '_meta',
  'cursor',
  'name',
  'arguments',
  'uri',
  'ref',
  'argument',
  'protocolVersion',
  'capabilities',
  'clientInfo',
  'requestId',
  'reason',
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

/** Maximum number of issues in an answer, and of its characters. */
const mostIssues = 5;
const mostCharacters = 1000;

/** An issue reported by a validator. */
interface Issue {
  path: readonly (string | number)[];
  message: string;
}

function issuesIn(text: string): Issue[] {
  try {
    // Some follow "Invalid tools/call request: ".
    const issues: unknown = JSON.parse(text.slice(text.indexOf('[')));
    return Array.isArray(issues) ? issues.filter((issue) => Array.isArray(issue?.path)) : [];
  } catch {
    return [];
  }
}

const validatorCodes: readonly number[] = [ProtocolErrorCode.InternalError, ProtocolErrorCode.InvalidParams];

/**
 * An answer in its public form. If the params of a message do not fit the protocol, the SDK sends the validator's
 * issues as JSON, often as an internal error. This answer names the invalid params instead.
 */
export function withNamedParams(answer: JSONRPCMessage): JSONRPCMessage {
  if (!('error' in answer) || !validatorCodes.includes(answer.error.code)) return answer;
  const issues = issuesIn(answer.error.message);
  if (issues.length === 0) return answer;
  const named = issues.slice(0, mostIssues).map(({ path, message }) => `${path.join('.')}: ${message}`);
  const message = clipped(named.join('; '), mostCharacters);
  return { ...answer, error: { ...answer.error, code: ProtocolErrorCode.InvalidParams, message } };
}
