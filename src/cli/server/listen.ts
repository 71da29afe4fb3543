import type { RequestListener, Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { type ConnectionDrain, createDrainingServer } from '../../platform/http/connection-drain.ts';
import { limitServer, type ServerCounts, serverOptions, usualLimits } from '../../platform/http/server-limits.ts';
import { connectionLimits } from './connection-limits.ts';
import { cannotListen, type ListenAt } from './listen-address.ts';

/** A server that accepts requests. */
export interface Listening {
  server: Server;
  drain: ConnectionDrain;
  address: AddressInfo;
  /** True if other processes listen at the address, each with its own socket. */
  isShared: boolean;
  /** Counts of the effects of its limits. */
  counts: () => ServerCounts;
}

// Systems that spread connections evenly over listening sockets. Elsewhere processes share one socket, and the fastest
// accepts a connection.
const spreads = process.platform === 'linux';

/** Serves `app` at an address. Resolves when it accepts requests. */
export function listen(app: RequestListener, at: ListenAt): Promise<Listening> {
  const { port, host, shared = false, socket } = at;
  const limits = { connections: connectionLimits(), ...usualLimits, ...at.limits };
  const { server, drain } = createDrainingServer(serverOptions(limits), app);
  const counts = limitServer(server, limits);
  return new Promise((resolve, reject) => {
    server.once('error', (error) => reject(cannotListen(error, at)));
    const isShared = shared && spreads;
    server.listen(socket ?? { port, host, reusePort: isShared }, () =>
      resolve({ server, drain, address: server.address() as AddressInfo, isShared, counts }),
    );
  });
}

/** Processes that are stopped together close their ports within this time of each other, ms. */
const closingTogetherMs = 250;

/** Closes the port, lets requests in progress finish, and cuts off the rest after `graceMs`. */
export async function stop({ drain, isShared }: Listening, graceMs: number): Promise<void> {
  drain.start();
  await drain.closePort(isShared ? closingTogetherMs : 0);
  await drain.closeConnections(graceMs);
}
