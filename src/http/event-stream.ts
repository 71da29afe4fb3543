import type { IncomingMessage, ServerResponse } from 'node:http';

/** Longest time in which the last words go out to a reader that does not read, ms. */
const lastWordsMs = 1000;

/** An answer that goes on: server-sent events on one response, as fast as its reader reads. */
export interface EventStream {
  /**
   * Sends a frame as soon as the reader has room for it, or drops it when the reader is gone; one given as a function
   * is made then.
   */
  send(frame: string | (() => string)): Promise<void>;
  /** A comment, unless the reader has not read what was sent before. */
  beat(): void;
  /** Sends `last` and ends the answer; a reader that does not take it is cut off. */
  end(last: string): void;
  readonly isClosed: boolean;
  /** Resolved when the answer is over: ended, or the reader gone. */
  readonly closed: Promise<void>;
}

/** Begins to answer with a stream of events: its headers go out at once. */
export function openEventStream(request: IncomingMessage, response: ServerResponse): EventStream {
  const { socket } = request;
  socket.setTimeout(0);
  socket.setNoDelay(true);
  socket.setKeepAlive(true, 30_000);
  response.statusCode = 200;
  response.setHeader('Content-Type', 'text/event-stream; charset=utf-8');
  // A proxy that gathers an answer before it passes it on would gather this one forever.
  response.setHeader('X-Accel-Buffering', 'no');
  response.flushHeaders();
  const closed = Promise.withResolvers<void>();
  let isClosed = response.closed || response.destroyed;
  let drained: PromiseWithResolvers<void> | null = null;
  const onClose = () => {
    isClosed = true;
    closed.resolve();
    drained?.resolve();
  };
  response.once('close', onClose);
  response.on('error', onClose);
  response.on('drain', () => {
    drained?.resolve();
    drained = null;
  });
  if (isClosed) onClose();
  // Some browsers show a stream as open only once something has come.
  else response.write(':\n\n');

  return {
    get isClosed() {
      return isClosed;
    },
    closed: closed.promise,
    async send(frame) {
      while (!isClosed && response.writableNeedDrain) {
        drained ??= Promise.withResolvers<void>();
        await drained.promise;
      }
      if (!isClosed && !response.writableEnded) response.write(typeof frame === 'string' ? frame : frame());
    },
    beat() {
      if (!isClosed && !response.writableEnded && !response.writableNeedDrain) response.write(':\n\n');
    },
    end(last) {
      if (isClosed || response.writableEnded) return;
      const impatience = setTimeout(() => response.destroy(), lastWordsMs).unref();
      response.once('close', () => clearTimeout(impatience));
      response.end(last);
    },
  };
}
