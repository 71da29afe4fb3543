import type { Store } from '../rows/connection.ts';
import type { Row } from '../rows/models/row-values.ts';

/** A stored ticket: its hash, and the encrypted credential of its owner. `expiresAt` is epoch ms. */
export type StreamTicketRow = Row<'StreamTicket'>;

/** Stores a ticket, and deletes those that expired before `nowMs`. */
export async function insertStreamTicket(store: Store, row: StreamTicketRow, nowMs: number): Promise<void> {
  await store.prisma.streamTicket.deleteMany({ where: { expiresAt: { lt: nowMs } } });
  await store.prisma.streamTicket.create({ data: { ...row, credential: Uint8Array.from(row.credential) } });
}

/**
 * Redeems a ticket, once over all processes. Returns the encrypted credential; null if the ticket is unknown, was
 * redeemed or has expired at `nowMs`.
 */
export async function takeStreamTicket(store: Store, hash: string, nowMs: number): Promise<Uint8Array | null> {
  const row = await store.prisma.streamTicket.findUnique({ where: { hash } });
  if (row === null) return null;
  // If several processes have read it, one deletes it.
  const { count } = await store.prisma.streamTicket.deleteMany({ where: { hash } });
  return count === 1 && Number(row.expiresAt) > nowMs ? row.credential : null;
}
