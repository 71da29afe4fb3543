import { createCipheriv, createDecipheriv, createHash } from 'node:crypto';
import type { Clock } from '../../runtime/clock.ts';
import type { RandomBytes } from '../../runtime/ulid.ts';
import { insertStreamTicket, takeStreamTicket } from '../../store/account/stream-tickets.ts';
import type { Store } from '../../store/rows/connection.ts';
import type { Caller } from '../caller.ts';
import { fromStore } from './credential-cache.ts';

/** Life of a ticket, ms. */
const ticketMs = 30_000;
const ticketPattern = /^[\w-]{43}$/;
const tagBytes = 16;

/** A ticket that was issued. */
export interface StreamTicket {
  ticket: string;
  /** Epoch ms. */
  expiresAt: number;
}

/** Tickets that open WebSockets: browsers send no credential with a handshake, and an address would end in logs. */
export interface StreamTickets {
  /** Keeps in mind with what a caller authenticated. */
  remember(caller: Caller, credential: string): void;
  /** Keeps in mind that `caller` is `former` with what it is by now. */
  succeed(former: Caller, caller: Caller): void;
  /**
   * A ticket that stands for the caller's credential, good once, for 30 s, in every process. Throws 502 when the store
   * does not answer.
   */
  issue(caller: Caller): Promise<StreamTicket>;
  /**
   * The credential that a ticket stands for; null if it is unknown, used or expired. Throws 502 when the store does not
   * answer.
   */
  redeem(ticket: string): Promise<string | null>;
}

const hashOf = (use: 'name' | 'key', ticket: string) => createHash('sha256').update(`stream ticket ${use}:${ticket}`);

// The key is used once, so that the nonce may always be the same.
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
 * Opens the tickets of a store, which all processes share. A reader of the store cannot obtain a ticket or a
 * credential.
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
