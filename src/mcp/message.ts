import type { IncomingMessage } from 'node:http';
import type { Response } from 'express';
import { type Failure, invalidRequest } from '../domain/failure.ts';
import { bodyBytes, utf8Text } from '../domain/request-body.ts';
import { type JsonSize, jsonSize, mostJsonValues } from '../runtime/json-size.ts';
import { deepestJson } from '../runtime/stored-text.ts';

/** Bytes of a request; a larger journal import goes to the route itself. */
const mostBytes = 1024 * 1024;
/** Maximum number of messages in a batch. Each can be a call. */
export const mostMessages = 20;

/** JSON-RPC's codes for what could not be taken for messages. */
const parseError = -32_700;
const invalidMessage = -32_600;

const tooDeep = `The message is nested more than ${deepestJson} deep.`;
const notJson = 'The body is not JSON.';

/** Whether a message calls a tool by name: then it is charged when the tool is called. */
function isToolCall(message: unknown): boolean {
  const { method, params } = (message ?? {}) as { method?: unknown; params?: { name?: unknown } | null };
  return method === 'tools/call' && typeof params?.name === 'string';
}

/** What a request holds. */
export interface Received {
  /** One JSON-RPC message, or a batch of them. */
  message: unknown;
  size: JsonSize;
  /** What its messages cost beside the tools they call, in requests. */
  cost: number;
}

/**
 * Reads the messages of a request; throws 413, 415, or 400 for a body that is not JSON, is nested too deep, or has too
 * many messages.
 */
export async function receiveMessages(request: IncomingMessage, caller: string): Promise<Received> {
  const bytes = await bodyBytes(request, { maxBytes: mostBytes, mediaTypes: ['application/json'], caller });
  const size = jsonSize(bytes, deepestJson);
  if (size === 'too-deep') throw invalidRequest(tooDeep);
  if (size === 'too-many-values')
    throw invalidRequest(`The message has more than ${mostJsonValues.toLocaleString('en-US')} values.`);
  const text = utf8Text(bytes);
  let message: unknown;
  try {
    message = JSON.parse(text);
  } catch {
    throw invalidRequest(notJson);
  }
  const messages: unknown[] = Array.isArray(message) ? message : [message];
  if (messages.length > mostMessages)
    throw invalidRequest(`The batch has ${messages.length} messages; at most ${mostMessages} are allowed.`);
  const cost = Math.max(Number(messages.length === 0), messages.filter((one) => !isToolCall(one)).length);
  return { message, size, cost };
}

/** Answers a request whose messages could not be read, as JSON-RPC does. */
export function rejectMessages(response: Response, { status, code, message, details, headers }: Failure): void {
  response.setHeaders(new Map(Object.entries(headers)));
  const rpcCode = message === notJson ? parseError : invalidMessage;
  response
    .status(status)
    .json({ jsonrpc: '2.0', id: null, error: { code: rpcCode, message, data: { code, details } } });
}
