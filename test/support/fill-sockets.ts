import { expect } from 'vitest';
import { exchangeInstant, type SessionDate } from '../../src/core/domain/market-time.ts';
import type { TestApp } from './app.ts';
import { readEvents } from './event-reader.ts';
import { gexCapture, saveCaptures } from './option-market.ts';

// Every strike differs from one capture to the next: some clients are sent what changed.
const large = (atMs: number) =>
  gexCapture(
    'SPX',
    atMs,
    Array.from({ length: 2000 }, (_, i) => ({
      strike: 1000 * (i + 1),
      expiry: '2026-12-18',
      gex: i + 0.123_456_789 + (atMs % 86_400_000) / 60_000,
    })),
  );

/**
 * Fills the sockets of clients that follow the GEX of SPX and do not read, with 40 captures of 2,000 strikes from a
 * minute of the session on, later than those of earlier calls: further events queue in the server. Returns once a
 * reading client has all of them.
 */
export async function fillSockets(app: TestApp, session: SessionDate, minute: number): Promise<void> {
  const headers = { authorization: `Bearer ${await app.key()}` };
  const beside = await readEvents(`${app.url}/v2/stream?topics=gex:SPX:2000`, { headers });
  expect(await beside.next()).toMatchObject({ event: 'ready' });
  const instants = Array.from({ length: 40 }, (_, i) => exchangeInstant(session, minute + i));
  // For a symbol without captures only the newest is sent, so one precedes the others.
  for (const stored of [instants.slice(0, 1), instants.slice(1)]) {
    await saveCaptures(app.store, { gex: stored.map(large) });
    for (let sent = await beside.next(); sent?.data.captured_at !== stored.at(-1); sent = await beside.next())
      if (sent === null) throw new Error('the stream ended; are these captures earlier than those before?');
  }
  expect(beside.events.filter(({ event }) => event === 'gex').length).toBeGreaterThanOrEqual(40);
  beside.leave();
}
