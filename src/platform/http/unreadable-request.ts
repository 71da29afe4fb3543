import type { RawAnswer } from './raw-answer.ts';

interface ParseError extends NodeJS.ErrnoException {
  /** The bytes in which the error was found. */
  rawPacket?: Buffer;
}

/**
 * The answer to a request that Node's parser rejected and the application never sees; null = the client would not read
 * it.
 */
export function unreadableRequest({ code, rawPacket }: ParseError): RawAnswer | null {
  const refused = (status: number, message: string): RawAnswer => ({ status, code: 'invalid_params', message });
  switch (code) {
    case 'ECONNRESET':
      return null;
    case 'HPE_HEADER_OVERFLOW':
      // The first line alone is too long if no line has ended within the limit.
      return rawPacket && /^[A-Z]+ \S*$/.test(rawPacket.toString('latin1'))
        ? refused(414, 'The URL is too long.')
        : refused(431, 'The headers are too large.');
    case 'HPE_CHUNK_EXTENSIONS_OVERFLOW':
      return refused(413, 'The extensions of a chunk are too large.');
    case 'ERR_HTTP_REQUEST_TIMEOUT':
      return refused(408, 'The headers took too long.');
    default:
      return refused(400, 'The request is not valid HTTP.');
  }
}
