import type { IncomingMessage } from 'node:http';

/** True if a request names one host (RFC 9112, 3.2). HTTP/1.0 knows no Host, so that it may be without one. */
export function namesOneHost({ headersDistinct, httpVersion }: IncomingMessage): boolean {
  const hosts = headersDistinct.host?.length ?? 0;
  return hosts === 1 || (hosts === 0 && httpVersion === '1.0');
}
