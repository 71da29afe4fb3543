import { readFileSync, readlinkSync } from 'node:fs';

/** A row of /proc/net/tcp. */
interface Row {
  localPort: number;
  remotePort: number;
  state: string;
  received: number;
  inode: string;
}

const listens = '0A';
/** On its way to be accepted, established, and established with an end from the other side. */
const isOpen = new Set(['03', '01', '08']);

function rowsOf(file: string): Row[] {
  const lines = readFileSync(file, 'utf8').trim().split('\n').slice(1);
  const hex = (text: string) => Number.parseInt(text.slice(text.lastIndexOf(':') + 1), 16);
  return lines.map((line) => {
    const [, local, remote, state, queues, , , , , inode] = line.trim().split(/\s+/);
    return {
      localPort: hex(local!),
      remotePort: hex(remote!),
      state: state!,
      received: hex(queues!),
      inode: inode!,
    };
  });
}

/** What a listening socket of this process is looked up by. */
export interface ListeningSocket {
  fd: number;
  port: number;
}

/**
 * Whether the connection from `remotePort` is the only one that the system has accepted, or is about to accept, for a listening
 * socket and that the process has not taken. Connections that wait at other sockets of the port make it false too. Linux only: throws elsewhere.
 */
export function holdsOnly({ fd, port }: ListeningSocket, remotePort: number): boolean {
  const inode = /\d+/.exec(readlinkSync(`/proc/self/fd/${fd}`))![0];
  const rows = ['/proc/net/tcp', '/proc/net/tcp6'].flatMap(rowsOf).filter(({ localPort }) => localPort === port);
  const waiting = rows.filter((row) => row.inode === '0' && isOpen.has(row.state));
  const socket = rows.find((row) => row.inode === inode && row.state === listens);
  return socket?.received === 1 && waiting.length === 1 && waiting[0]!.remotePort === remotePort;
}
