import type { IncomingMessage } from 'node:http';
import type { Tier } from '../config/tier.ts';

declare module 'node:http' {
  interface IncomingMessage {
    /** The request id, known to the client and written to the log. */
    id?: string;
  }
}

/** Details of a request, collected while it is answered, for the log, metrics and traces. They contain no secret. */
export interface RequestDetails {
  /** The account; absent until the credential is validated. */
  accountId?: string;
  /** Id of the API key, not the key; null for a site session. */
  keyId?: string | null;
  tier?: Tier;
  /** Requests charged against the caller's rate. */
  cost?: number;
  /** The error code of the contract; for a GraphQL answer, that of the first error. */
  code?: string;
  /** For a GraphQL request: the kind of operation, and the scope groups of its fields. */
  operation?: string;
  /** The name of the operation, as the client sent it. */
  operationName?: string;
  groups?: readonly string[];
  /** The id of its trace, if traces are on. */
  traceId?: string;
}

const details = new WeakMap<IncomingMessage, RequestDetails>();

/** The details collected so far. */
export function detailsOf(request: IncomingMessage): RequestDetails {
  return details.get(request) ?? {};
}

/** Adds details of a request. */
export function note(request: IncomingMessage, found: RequestDetails): void {
  const known = details.get(request);
  if (known) Object.assign(known, found);
  else details.set(request, { ...found });
}
