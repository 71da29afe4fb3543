import { Counter, Gauge, type Registry } from 'prom-client';
import type { ServerCounts } from '../http/server-limits.ts';

/** Metrics of the connections of the server and of the effects of its limits. */
export function watchConnections(registers: Registry[], counts: () => ServerCounts): void {
  new Gauge({
    name: 'tapegraph_connections',
    help: 'Client connections by state: with a request in progress (active) or without (idle).',
    labelNames: ['state'],
    registers,
    collect() {
      const { open, idle } = counts();
      this.set({ state: 'active' }, open - idle);
      this.set({ state: 'idle' }, idle);
    },
  });
  new Counter({
    name: 'tapegraph_connections_closed_total',
    help: 'Connections closed by a limit: refused over MAX_CONNECTIONS (total) or MAX_CONNECTIONS_PER_ADDRESS (address); idle ones closed to make room for others (idle); headers that took too long (late_headers); answers the client did not read (unread).',
    labelNames: ['limit'],
    registers,
    // The counts are made elsewhere; metrics only report them.
    collect() {
      this.reset();
      const { refused, evicted, lateHeaders, unreadAnswers } = counts();
      const closed = { ...refused, idle: evicted, late_headers: lateHeaders, unread: unreadAnswers };
      for (const [limit, count] of Object.entries(closed)) this.inc({ limit }, count);
    },
  });
  new Gauge({
    name: 'tapegraph_request_body_bytes',
    help: 'Bytes of request bodies being received.',
    registers,
    collect() {
      this.set(counts().bodyBytes);
    },
  });
}
