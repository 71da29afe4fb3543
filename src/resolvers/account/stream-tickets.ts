import type { StreamTicket } from '../../access/identity/stream-tickets.ts';
import type { RequestContext } from '../context.ts';
import type { ResponseMeta } from '../response-meta.ts';
import { accountMeta } from './account.ts';

/** An issued ticket, and the metadata of the answer. */
export interface CreatedStreamTicket extends StreamTicket {
  meta: ResponseMeta;
}

/** Issues a ticket for the caller's credential. */
export async function createStreamTicket(context: RequestContext): Promise<CreatedStreamTicket> {
  return { ...(await context.access.tickets.issue(context.caller)), meta: accountMeta(context) };
}
