import type { IncomingMessage } from 'node:http';
import type { Tier } from '../domain/tier.ts';

declare module 'node:http' {
  interface IncomingMessage {
    /** By which whoever sent it and the log know it. */
    id?: string;
  }
}

/** What is found out of a request while it is answered, for the log, metrics and traces. Nothing in it is secret. */
export interface RequestDetails {
  /** Whom it is from; absent until a credential was found valid. */
  accountId?: string;
  /** Id of the API key, not the key; null for a site session. */
  keyId?: string | null;
  tier?: Tier;
  /** Requests it took from the caller's rate. */
  cost?: number;
  /** The contract's code of what it was refused or failed with; of a GraphQL answer with errors, the first one's. */
  code?: string;
  /** Of a GraphQL request: the kind of its operation, and the scope groups of its fields. */
  operation?: string;
  groups?: readonly string[];
  /** Of the trace it is told in, where traces are on. */
  traceId?: string;
}

const details = new WeakMap<IncomingMessage, RequestDetails>();

/** What is known of a request by now. */
export function detailsOf(request: IncomingMessage): RequestDetails {
  return details.get(request) ?? {};
}

/** Adds to what is known of a request. */
export function note(request: IncomingMessage, found: RequestDetails): void {
  const known = details.get(request);
  if (known) Object.assign(known, found);
  else details.set(request, { ...found });
}
