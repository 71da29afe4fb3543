// Subscriptions of a page over one WebSocket, by the protocol graphql-transport-ws.

/** An operation's text and variables. */
interface SocketOperation {
  query: string;
  variables: Record<string, unknown>;
}

/** An error that ended an operation, with the parts that clients act on. */
interface OperationError {
  message: string;
  extensions?: { code?: string; reason?: string; details?: { retry_after_seconds?: number } };
}

/** Receives the events of one subscription. */
interface OperationListener {
  onData: (data: Record<string, unknown>) => void;
  /** Called when the server ended it; without errors if it was complete. */
  onEnd: (errors: readonly OperationError[]) => void;
}

interface SocketParts {
  url: string;
  /** The API key, sent with `connection_init`: browsers send no headers with a WebSocket. */
  key: string;
  /** Called when the key is accepted: operations may be sent from now on. */
  onReady: () => void;
  /** Called when the connection is lost or was never opened, with the close code; not after `close`. */
  onClose: (code: number) => void;
}

/** Close codes of a credential that is not, or no longer, accepted: a retry would fail too. */
const refusedCodes: readonly number[] = [4401, 4403];
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
class GraphqlSocket {
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

// Holds the subscriptions of a page open over one connection, and reopens them when it is lost.

/** State of the live data: `refused` is final until the key or the page changes. */
export type LiveState = 'off' | 'connecting' | 'live' | 'reconnecting' | 'refused';

/** One subscription. */
export interface LiveOperation {
  /** Equal for equal text and variables. */
  id: string;
  query: string;
  variables: Record<string, unknown>;
  /** Called with each message's `data`. */
  onData: (data: Record<string, unknown>) => void;
}

export interface LiveParts {
  url: string;
  key: string;
  onState: (state: LiveState) => void;
  /** Called when the connection is back after it was lost: missed changes must be requested. */
  onReturn: () => void;
  /** Random number, 0 to 1, to spread the reconnections of many readers. */
  random: () => number;
}

/** The subscriptions of a page. */
export interface LiveLink {
  /** Subscribes to these operations and ends all others; those already open continue without a gap. */
  listen: (operations: readonly LiveOperation[]) => void;
  close: () => void;
}

const longestWaitMs = 30_000;

/** Delay before the `attempt`th attempt (from 0), ms: doubles from one second to half a minute, randomized by half. */
export function backOffMs(attempt: number, random: number): number {
  return Math.min(longestWaitMs, 1000 * 2 ** Math.min(attempt, 10)) * (0.75 + random / 2);
}

/** Reasons for which the server ends a subscription that may be opened again. */
const passingReasons = new Set(['shutdown', 'too_slow', 'failed']);

function isPassing([error]: readonly OperationError[]): boolean {
  const { code, reason } = error?.extensions ?? {};
  return error === undefined || code === 'rate_limited' || passingReasons.has(String(reason));
}

/** An operation, the function that ends it while there is a connection, and true if the server rejected it. */
interface Listened {
  operation: LiveOperation;
  stop: () => void;
  isRefused: boolean;
}

const nothing = () => {};

class ReopenedLink implements LiveLink {
  readonly #parts: LiveParts;
  readonly #listened = new Map<string, Listened>();
  #socket: GraphqlSocket | null = null;
  #isReady = false;
  // Number of connections lost since the last data.
  #losses = 0;
  #isReturning = false;
  #timer: ReturnType<typeof setTimeout> | undefined;

  constructor(parts: LiveParts) {
    this.#parts = parts;
  }

  listen(operations: readonly LiveOperation[]): void {
    const wanted = new Map(operations.map((operation) => [operation.id, operation]));
    for (const [id, { stop }] of this.#listened) {
      if (wanted.has(id)) continue;
      this.#listened.delete(id);
      stop();
    }
    for (const [id, operation] of wanted) {
      if (this.#listened.has(id)) continue;
      const listened = { operation, stop: nothing, isRefused: false };
      this.#listened.set(id, listened);
      if (this.#isReady) this.#subscribe(listened);
    }
    if (this.#socket === null && this.#timer === undefined && !this.#areAllRefused()) this.#open();
  }

  close(): void {
    clearTimeout(this.#timer);
    this.#timer = undefined;
    this.#socket?.close();
    this.#socket = null;
    this.#isReady = false;
  }

  #open(): void {
    this.#timer = undefined;
    if (!this.#isReturning) this.#parts.onState('connecting');
    this.#socket = new GraphqlSocket({
      url: this.#parts.url,
      key: this.#parts.key,
      onReady: () => this.#ready(),
      onClose: (code) => (refusedCodes.includes(code) ? this.#refuse() : this.#lost()),
    });
  }

  #ready(): void {
    this.#isReady = true;
    // Rejected operations are not sent again: the answer would be the same.
    for (const listened of this.#listened.values()) if (!listened.isRefused) this.#subscribe(listened);
    this.#parts.onState('live');
    if (this.#isReturning) this.#parts.onReturn();
    this.#isReturning = false;
  }

  #subscribe(listened: Listened): void {
    const { query, variables, onData } = listened.operation;
    listened.stop = this.#socket!.subscribe(
      { query, variables },
      {
        onData: (data) => {
          this.#losses = 0;
          onData(data);
        },
        onEnd: (errors) => this.#ended(listened, errors),
      },
    );
  }

  #ended(listened: Listened, errors: readonly OperationError[]): void {
    listened.isRefused = !isPassing(errors);
    if (!listened.isRefused) this.#lost((errors[0]?.extensions?.details?.retry_after_seconds ?? 0) * 1000);
    else if (this.#areAllRefused()) this.#refuse();
  }

  #areAllRefused(): boolean {
    return [...this.#listened.values()].every(({ isRefused }) => isRefused);
  }

  /** Ends everything: the key is rejected. */
  #refuse(): void {
    this.close();
    this.#parts.onState('refused');
  }

  /** Reopens the connection, not before `waitMs` have passed. */
  #lost(waitMs = 0): void {
    this.close();
    this.#isReturning = true;
    this.#parts.onState('reconnecting');
    const backOff = backOffMs(this.#losses++, this.#parts.random());
    this.#timer = setTimeout(() => this.#open(), Math.max(waitMs, backOff));
  }
}

/** Creates the link of a page. It connects when there is something to subscribe to. */
export const openLive = (parts: LiveParts): LiveLink => new ReopenedLink(parts);
