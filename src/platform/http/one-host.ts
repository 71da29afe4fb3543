import type { IncomingMessage } from 'node:http';

/** True if a request has one host (RFC 9112, 3.2). HTTP/1.0 does not require one. */
export function namesOneHost({ headersDistinct, httpVersion }: IncomingMessage): boolean {
  const hosts = headersDistinct.host?.length ?? 0;
  return hosts === 1 || (hosts === 0 && httpVersion === '1.0');
}
