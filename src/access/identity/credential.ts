import type { IncomingMessage } from 'node:http';
import { invalidRequest } from '../../platform/wire/failure.ts';
import { looksLikeApiKey } from './api-keys.ts';

/** Maximum length of a credential, in characters; a longer one is invalid. */
export const maxCredentialLength = 8192;

/** Headers by lower-case name, each with all its values (`IncomingMessage.headersDistinct`). */
type Headers = Readonly<Record<string, readonly string[] | undefined>>;

function onlyLine(headers: Headers, name: string, shown: string): string {
  const lines = headers[name] ?? [];
  // Proxies disagree on which of several headers counts, so none is used.
  if (lines.length > 1) throw invalidRequest(`${shown}: expected one such header, got ${lines.length}.`);
  return lines[0]?.trim() ?? '';
}

/**
 * The credential of a request: `Authorization: Bearer <key or session token>`, the scheme in any case, else `X-API-Key:
 * <key>`, which takes no session token. Null = none was sent. Query parameters are not read, because addresses are
 * logged. Throws 400 if one of the headers is repeated.
 */
export function credentialOf(headers: Headers): string | null {
  const authorization = onlyLine(headers, 'authorization', 'Authorization');
  const key = onlyLine(headers, 'x-api-key', 'X-API-Key');
  const bearer = /^bearer +(\S.*)$/i.exec(authorization)?.[1];
  return bearer ?? (looksLikeApiKey(key) ? key : null);
}

/** True if a request has a header for a credential, regardless of its value. */
export function hasCredential(headers: object): boolean {
  return 'authorization' in headers || 'x-api-key' in headers;
}

const credentialHeaders = ['authorization', 'x-api-key'] as const;

/** Replaces the credential headers of a request: a WebSocket's client sends its credential after the handshake. */
export function setCredential(
  request: Pick<IncomingMessage, 'headers' | 'headersDistinct'>,
  credential: Readonly<Partial<Record<(typeof credentialHeaders)[number], string>>>,
): void {
  for (const name of credentialHeaders) {
    const value = credential[name];
    delete request.headers[name];
    delete request.headersDistinct[name];
    if (value === undefined) continue;
    request.headers[name] = value;
    request.headersDistinct[name] = [value];
  }
}
