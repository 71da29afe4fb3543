import type { IncomingMessage } from 'node:http';
import { setCredential } from '../../access/identity/credential.ts';
import { invalidRequest } from '../../platform/wire/failure.ts';

/** Names under which clients send a credential in `connection_init`, lower case, and the header for each. */
const headerOf: Readonly<Record<string, 'authorization' | 'x-api-key'>> = {
  authorization: 'authorization',
  'x-api-key': 'x-api-key',
  apikey: 'x-api-key',
};

function credentials(params: object): Map<'authorization' | 'x-api-key', string> {
  const found = new Map<'authorization' | 'x-api-key', string>();
  for (const [name, value] of Object.entries(params)) {
    const header = headerOf[name.toLowerCase()];
    if (header === undefined) continue;
    if (typeof value !== 'string') throw invalidRequest(`connection_init: expected ${name} to be text.`);
    found.set(header, value);
  }
  return found;
}

/**
 * Uses the credential of `connection_init` as that of the connection's request: `{Authorization: 'Bearer …'}` or
 * `{'X-API-Key': …}`, also within `headers`. Without one, the credential of the handshake counts. Throws 400 for one
 * that is not a string.
 */
export function takeCredential(request: IncomingMessage, params: Readonly<Record<string, unknown>> = {}): void {
  const { headers } = params;
  const nested = typeof headers === 'object' && headers !== null ? headers : {};
  const found = new Map([...credentials(nested), ...credentials(params)]);
  if (found.size === 0) return;
  setCredential(request, Object.fromEntries(found));
}
