import type { Server, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';

/** What a server is answering at the moment, for a clean end. */
export interface Answering {
  /** From now on every connection ends with the answer it waits for, and says so to its client where that can still be said. */
  lastAnswers(): void;
  /** Ends connections that have not asked for anything yet, as browsers keep ready. */
  endUnused(): void;
}

function closeAfter(response: ServerResponse): void {
  if (!response.headersSent) response.setHeader('Connection', 'close');
  else response.once('finish', () => response.socket?.end());
}

/** Watches the connections of a server, from before its first. */
export function watchAnswering(server: Server): Answering {
  const responses = new Set<ServerResponse>();
  const sockets = new Set<Socket>();
  let last = false;
  server.prependListener('request', (_request, response) => {
    if (last) closeAfter(response);
    responses.add(response);
    response.once('close', () => responses.delete(response));
  });
  server.on('connection', (socket) => {
    sockets.add(socket);
    socket.once('close', () => sockets.delete(socket));
  });
  return {
    lastAnswers() {
      last = true;
      for (const response of responses) closeAfter(response);
    },
    endUnused() {
      for (const socket of sockets) if (socket.bytesRead === 0) socket.destroy();
    },
  };
}
