import type { IncomingMessage, ServerResponse } from 'node:http';

/** Longest wait for the last frame to be read, ms. */
const lastWordsMs = 1000;

function sendHeaders({ socket }: IncomingMessage, response: ServerResponse): void {
  socket.setTimeout(0);
  socket.setNoDelay(true);
  socket.setKeepAlive(true, 30_000);
  response.statusCode = 200;
  response.setHeader('Content-Type', 'text/event-stream; charset=utf-8');
  // A buffering proxy would hold this response forever.
  response.setHeader('X-Accel-Buffering', 'no');
  response.flushHeaders();
}

/** A lasting answer: server-sent events on one response, as fast as its reader reads. */
export class EventStream {
  readonly #response: ServerResponse;
  readonly #closed = Promise.withResolvers<void>();
  #isClosed: boolean;
  /** Resolved when there is room for a frame; null = nothing waits for it. */
  #drained: PromiseWithResolvers<void> | null = null;

  /** Begins to answer: the headers go out at once. */
  constructor(request: IncomingMessage, response: ServerResponse) {
    sendHeaders(request, response);
    this.#response = response;
    this.#isClosed = response.closed || response.destroyed;
    response.once('close', () => this.#onClose());
    response.on('error', () => this.#onClose());
    response.on('drain', () => {
      this.#drained?.resolve();
      this.#drained = null;
    });
    if (this.#isClosed) this.#onClose();
    // Some browsers show a stream as open only once something has come.
    else response.write(':\n\n');
  }

  get isClosed(): boolean {
    return this.#isClosed;
  }

  /** Resolved when the answer is over: ended, or the reader gone. */
  get closed(): Promise<void> {
    return this.#closed.promise;
  }

  /**
   * Sends a frame as soon as the reader has room for it, or drops it when the reader is gone; one given as a function
   * is made then.
   */
  async send(frame: string | (() => string)): Promise<void> {
    while (!this.#isClosed && this.#response.writableNeedDrain) {
      this.#drained ??= Promise.withResolvers<void>();
      await this.#drained.promise;
    }
    if (this.#isOpen()) this.#response.write(typeof frame === 'string' ? frame : frame());
  }

  /** A comment, unless the reader has not read what was sent before. */
  beat(): void {
    if (this.#isOpen() && !this.#response.writableNeedDrain) this.#response.write(':\n\n');
  }

  /** Sends `last` and ends the answer; a reader that does not take it is cut off. */
  end(last: string): void {
    if (!this.#isOpen()) return;
    const impatience = setTimeout(() => this.#response.destroy(), lastWordsMs).unref();
    this.#response.once('close', () => clearTimeout(impatience));
    this.#response.end(last);
  }

  #isOpen(): boolean {
    return !this.#isClosed && !this.#response.writableEnded;
  }

  #onClose(): void {
    this.#isClosed = true;
    this.#closed.resolve();
    this.#drained?.resolve();
  }
}
