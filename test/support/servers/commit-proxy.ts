import { type AddressInfo, connect, createServer, type Socket } from 'node:net';

/** A proxy between a coordinator and a worker that sees when a prepared transaction is to be committed. */
export interface CommitProxy {
  port: number;
  /** At the next COMMIT PREPARED the worker goes away before it gets it, until `bringBack`. */
  loseCommit(): void;
  bringBack(): void;
  /** From now on a COMMIT PREPARED waits, until `letGo`. */
  holdCommits(): void;
  /**
   * Calls `act` once, when the worker has finished its part of a transaction (`finished`), or is about to commit a
   * prepared one (`decided`). No process learns of it until `letGo`.
   */
  at(moment: 'finished' | 'decided', act: () => void): void;
  /** True if one is held. */
  holds(): boolean;
  letGo(): void;
  close(): void;
}

/** Proxies a port of this machine to another. */
export async function commitProxy(port: number): Promise<CommitProxy> {
  const sockets = new Set<Socket>();
  const waiting: (() => void)[] = [];
  let mode: 'pass' | 'lose' | 'away' | 'hold' | 'finished' | 'decided' = 'pass';
  let act = () => {};
  const endAll = () => {
    for (const socket of sockets) socket.destroy();
    sockets.clear();
  };
  const server = createServer((client) => {
    if (mode === 'away') {
      client.destroy();
      return;
    }
    const upstream = connect(port, '127.0.0.1');
    for (const [from, to] of [
      [client, upstream],
      [upstream, client],
    ] as const) {
      sockets.add(from);
      from.on('close', () => to.destroy());
      from.on('error', () => to.destroy());
    }
    let finishes = false;
    upstream.on('data', (data) => {
      if (finishes && mode === 'finished') {
        mode = 'hold';
        act();
      } else client.write(data);
    });
    client.on('data', (data) => {
      finishes = /\bCOMMIT\b|PREPARE TRANSACTION/.test(data.toString('latin1'));
      const commits = data.includes('COMMIT PREPARED');
      if (commits && mode === 'hold') waiting.push(() => upstream.write(data));
      else if (commits && mode === 'lose') {
        mode = 'away';
        endAll();
      } else if (commits && mode === 'decided') {
        mode = 'hold';
        act();
      } else upstream.write(data);
    });
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return {
    port: (server.address() as AddressInfo).port,
    loseCommit() {
      mode = 'lose';
    },
    bringBack() {
      mode = 'pass';
    },
    at(moment, then) {
      mode = moment;
      act = then;
    },
    holdCommits() {
      mode = 'hold';
    },
    holds: () => waiting.length > 0,
    letGo() {
      mode = 'pass';
      for (const go of waiting.splice(0)) go();
    },
    close() {
      server.close();
      endAll();
    },
  };
}
