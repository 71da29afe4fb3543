import { randomUUID } from 'node:crypto';
import { STATUS_CODES } from 'node:http';

/** An answer written directly to a socket, because there is no parsed request. */
export interface RawAnswer {
  status: number;
  /** The contract's error code. */
  code: string;
  message: string;
  /** Seconds. */
  retryAfter?: number;
}

/** The bytes of an answer that closes its connection: the contract's error envelope, with a new request id. */
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
