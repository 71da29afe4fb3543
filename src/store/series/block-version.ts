import { hash } from 'node:crypto';

/** Content hash of a payload: equal content, equal version. */
export function blockVersion(payload: Uint8Array): string {
  return hash('sha256', payload, 'base64url').slice(0, 16);
}
