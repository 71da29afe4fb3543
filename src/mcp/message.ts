import type { IncomingMessage } from 'node:http';
import type { Response } from 'express';
import { bodyBytes, utf8Text } from '../platform/http/read-body.ts';
import { type Failure, invalidRequest } from '../platform/wire/failure.ts';
import { type JsonSize, jsonSize, mostJsonValues } from '../platform/wire/json-size.ts';
import { clipped } from '../platform/wire/printed-value.ts';
import { deepestJson } from '../platform/wire/stored-text.ts';
import { type LightMessages, lightMessages } from './light-message.ts';

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
export interface Received {
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
