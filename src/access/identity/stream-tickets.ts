import { createCipheriv, createDecipheriv, createHash } from 'node:crypto';
import type { Clock } from '../../platform/runtime/clock.ts';
import type { RandomBytes } from '../../platform/runtime/ulid.ts';
import { insertStreamTicket, takeStreamTicket } from '../../store/account/stream-tickets.ts';
import type { Store } from '../../store/rows/connection.ts';
import type { Caller } from '../caller.ts';
import { fromStore } from './credential-cache.ts';

/** Lifetime of a ticket, ms. */
const ticketMs = 30_000;
const ticketPattern = /^[\w-]{43}$/;
const tagBytes = 16;

/** An issued ticket. */
export interface StreamTicket {
  ticket: string;
  /** Epoch ms. */
  expiresAt: number;
}

/** Tickets for WebSockets: browsers send no credential with a handshake, and one in the address would be logged. */
export interface StreamTickets {
  /** Remembers the credential of a caller. */
  remember(caller: Caller, credential: string): void;
  /** Remembers that `caller` is the current state of `former`. */
  succeed(former: Caller, caller: Caller): void;
  /**
   * Issues a ticket for the caller's credential, valid once, for 30 s, in every process. Throws 502 if the store does
   * not answer.
   */
  issue(caller: Caller): Promise<StreamTicket>;
  /**
   * The credential behind a ticket; null if the ticket is unknown, used or expired. Throws 502 if the store does not
   * answer.
   */
  redeem(ticket: string): Promise<string | null>;
}

const hashOf = (use: 'name' | 'key', ticket: string) => createHash('sha256').update(`stream ticket ${use}:${ticket}`);

// Each encryption key is used once, so a constant nonce is safe.
const nonce = Buffer.alloc(12);

function seal(ticket: string, credential: string): Uint8Array {
  const cipher = createCipheriv('aes-256-gcm', hashOf('key', ticket).digest(), nonce);
  return Buffer.concat([cipher.update(credential, 'utf8'), cipher.final(), cipher.getAuthTag()]);
}

function unseal(ticket: string, sealed: Uint8Array): string {
  const decipher = createDecipheriv('aes-256-gcm', hashOf('key', ticket).digest(), nonce);
  decipher.setAuthTag(sealed.subarray(-tagBytes));
  return Buffer.concat([decipher.update(sealed.subarray(0, -tagBytes)), decipher.final()]).toString('utf8');
}

/**
 * Opens the tickets of a store, which all processes share. Reading the store reveals neither a ticket nor a credential.
 */
export function openStreamTickets(store: Store, now: Clock, random: RandomBytes): StreamTickets {
  const credentials = new WeakMap<Caller, string>();
  return {
    remember: (caller, credential) => void credentials.set(caller, credential),
    succeed: (former, caller) => void credentials.set(caller, credentials.get(former)!),
    async issue(caller) {
      const ticket = Buffer.from(random(32)).toString('base64url');
      const nowMs = now();
      const expiresAt = nowMs + ticketMs;
      const hash = hashOf('name', ticket).digest('hex');
      const credential = seal(ticket, credentials.get(caller)!) as Uint8Array<ArrayBuffer>;
      await fromStore(insertStreamTicket(store, { hash, credential, expiresAt }, nowMs));
      return { ticket, expiresAt };
    },
    async redeem(ticket) {
      if (!ticketPattern.test(ticket)) return null;
      const sealed = await fromStore(takeStreamTicket(store, hashOf('name', ticket).digest('hex'), now()));
      return sealed && unseal(ticket, sealed);
    },
  };
}
