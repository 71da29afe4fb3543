import { randomUUID } from 'node:crypto';
import { STATUS_CODES } from 'node:http';

/** An answer that is written to a socket as it is, because there is no request that it could answer. */
export interface RawAnswer {
  status: number;
  /** The contract's error code. */
  code: string;
  message: string;
  /** Seconds. */
  retryAfter?: number;
}

/**
 * The bytes of an answer after which its connection closes: the contract's error envelope, with a request id of its
 * own.
 */
export function rawAnswer({ status, code, message, retryAfter }: RawAnswer): Buffer {
  const body = JSON.stringify({ error: { code, message } });
  const lines = [
    `HTTP/1.1 ${status} ${STATUS_CODES[status]}`,
    `x-request-id: ${randomUUID()}`,
    'Content-Type: application/json; charset=utf-8',
    'Cache-Control: no-store',
    `Content-Length: ${Buffer.byteLength(body)}`,
    ...(retryAfter === undefined ? [] : [`Retry-After: ${retryAfter}`]),
    'Connection: close',
  ];
  return Buffer.from(`${lines.join('\r\n')}\r\n\r\n${body}`);
}
