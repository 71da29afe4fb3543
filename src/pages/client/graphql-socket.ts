// Subscriptions of a page over one WebSocket, by the protocol graphql-transport-ws.

/** An operation's text and variables. */
export interface SocketOperation {
  query: string;
  variables: Record<string, unknown>;
}

/** An error that ended an operation, with the parts that clients act on. */
export interface OperationError {
  message: string;
  extensions?: { code?: string; reason?: string; details?: { retry_after_seconds?: number } };
}

/** Receives the events of one subscription. */
export interface OperationListener {
  onData: (data: Record<string, unknown>) => void;
  /** Called when the server ended it; without errors if it was complete. */
  onEnd: (errors: readonly OperationError[]) => void;
}

export interface SocketParts {
  url: string;
  /** The API key, sent with `connection_init`: browsers send no headers with a WebSocket. */
  key: string;
  /** Called when the key is accepted: operations may be sent from now on. */
  onReady: () => void;
  /** Called when the connection is lost or was never opened, with the close code; not after `close`. */
  onClose: (code: number) => void;
}

/** Close codes of a credential that is not, or no longer, accepted: a retry would fail too. */
export const refusedCodes: readonly number[] = [4401, 4403];
/** Close code of a connection that ended without one (RFC 6455). */
const abnormalClosure = 1006;
/** Longest wait for the connection to be accepted, ms. */
const openWithinMs = 15_000;
/** Time without a message after which a pong is requested, ms, because the browser hides the server's pings. */
const silenceMs = 30_000;
/** Longest wait for that pong, ms. */
const pongWithinMs = 15_000;

/** The server's messages. */
type Received =
  | { type: 'connection_ack' | 'ping' | 'pong' }
  | { type: 'next'; id: string; payload: { data?: Record<string, unknown> | null; errors?: OperationError[] } }
  | { type: 'error'; id: string; payload: OperationError[] }
  | { type: 'complete'; id: string };

/** A connection, opened on creation. It is not reopened when it is lost. */
export class GraphqlSocket {
  readonly #socket: WebSocket;
  readonly #parts: SocketParts;
  readonly #listeners = new Map<string, OperationListener>();
  readonly #tooLate: ReturnType<typeof setTimeout>;
  #silence: ReturnType<typeof setTimeout> | undefined;
  #lastId = 0;

  constructor(parts: SocketParts) {
    this.#parts = parts;
    this.#socket = new WebSocket(parts.url, 'graphql-transport-ws');
    this.#tooLate = setTimeout(() => this.#lose(abnormalClosure), openWithinMs);
    const payload = { Authorization: `Bearer ${parts.key}` };
    this.#socket.onopen = () => this.#send({ type: 'connection_init', payload });
    this.#socket.onmessage = ({ data }) => {
      this.#watch();
      this.#receive(JSON.parse(data) as Received);
    };
    this.#socket.onclose = ({ code }) => this.#lose(code);
  }

  /** Starts a subscription. Returns the function that ends it. */
  subscribe(payload: SocketOperation, listener: OperationListener): () => void {
    const id = String(++this.#lastId);
    this.#listeners.set(id, listener);
    this.#send({ id, type: 'subscribe', payload });
    return () => {
      if (this.#listeners.delete(id)) this.#send({ id, type: 'complete' });
    };
  }

  close(): void {
    this.#release();
    // The browser reports an error for a connection that is closed before it is open.
    if (this.#socket.readyState === WebSocket.CONNECTING) this.#socket.onopen = () => this.#socket.close();
    else this.#socket.close();
  }

  #send(message: object): void {
    if (this.#socket.readyState === WebSocket.OPEN) this.#socket.send(JSON.stringify(message));
  }

  #release(): void {
    clearTimeout(this.#tooLate);
    clearTimeout(this.#silence);
    this.#listeners.clear();
    this.#socket.onopen = null;
    this.#socket.onmessage = null;
    this.#socket.onclose = null;
  }

  #lose(code: number): void {
    this.#release();
    this.#socket.close();
    this.#parts.onClose(code);
  }

  /** Passes a message to the listener of its operation; an operation that the page has ended has none. */
  #receive(message: Received): void {
    if (message.type === 'connection_ack') {
      clearTimeout(this.#tooLate);
      this.#parts.onReady();
    } else if (message.type === 'ping') this.#send({ type: 'pong' });
    if (!('id' in message)) return;
    const listener = this.#listeners.get(message.id);
    if (message.type === 'next') {
      if (message.payload.data != null) listener?.onData(message.payload.data);
      return;
    }
    this.#listeners.delete(message.id);
    listener?.onEnd(message.type === 'error' ? message.payload : []);
  }

  /** Starts to wait for the next message. */
  #watch(): void {
    clearTimeout(this.#silence);
    this.#silence = setTimeout(() => {
      this.#send({ type: 'ping' });
      this.#silence = setTimeout(() => this.#lose(abnormalClosure), pongWithinMs);
    }, silenceMs);
  }
}
