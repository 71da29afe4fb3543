// Subscriptions of a page over one WebSocket, by the protocol graphql-transport-ws.

/** An operation's text and variables. */
export interface SocketOperation {
  query: string;
  variables: Record<string, unknown>;
}

/** An error that ended an operation, as far as clients act on it. */
export interface OperationError {
  message: string;
  extensions?: { code?: string; reason?: string; details?: { retry_after_seconds?: number } };
}

/** Receives the events of one subscription. */
export interface OperationListener {
  onData: (data: Record<string, unknown>) => void;
  /** Called when the server ended it; without errors when it was complete. */
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

export interface GraphqlSocket {
  /** Begins a subscription; returns what ends it. */
  subscribe: (operation: SocketOperation, listener: OperationListener) => () => void;
  close: () => void;
}

/** Close codes of a credential that is not accepted, or no longer: another try has the same answer. */
export const refusedCodes: readonly number[] = [4401, 4403];
/** Close code of a connection that ended without one (RFC 6455). */
const abnormalClosure = 1006;
/** Longest wait for the connection to be accepted, ms. */
const openWithinMs = 15_000;
/** The browser hides the server's pings: after this long without a message a pong is asked for, ms. */
const silenceMs = 30_000;
/** Longest wait for that pong, ms. */
const pongWithinMs = 15_000;

/** The server's messages. */
type Received =
  | { type: 'connection_ack' | 'ping' | 'pong' }
  | { type: 'next'; id: string; payload: { data?: Record<string, unknown> | null; errors?: OperationError[] } }
  | { type: 'error'; id: string; payload: OperationError[] }
  | { type: 'complete'; id: string };

/** Opens a connection. It is not opened again when it is lost. */
export function openGraphqlSocket({ url, key, onReady, onClose }: SocketParts): GraphqlSocket {
  const listeners = new Map<string, OperationListener>();
  let lastId = 0;
  const socket = new WebSocket(url, 'graphql-transport-ws');
  const send = (message: object) => socket.readyState === WebSocket.OPEN && socket.send(JSON.stringify(message));
  const tooLate = setTimeout(() => lose(abnormalClosure), openWithinMs);
  let silence: ReturnType<typeof setTimeout> | undefined;

  function release(): void {
    clearTimeout(tooLate);
    clearTimeout(silence);
    listeners.clear();
    socket.onopen = null;
    socket.onmessage = null;
    socket.onclose = null;
  }

  function lose(code: number): void {
    release();
    socket.close();
    onClose(code);
  }

  /** Hands a message to the listener of its operation; one that the page has ended has none. */
  function receive(message: Received): void {
    if (message.type === 'connection_ack') {
      clearTimeout(tooLate);
      onReady();
    } else if (message.type === 'ping') send({ type: 'pong' });
    if (!('id' in message)) return;
    const listener = listeners.get(message.id);
    if (message.type === 'next') {
      if (message.payload.data != null) listener?.onData(message.payload.data);
      return;
    }
    listeners.delete(message.id);
    listener?.onEnd(message.type === 'error' ? message.payload : []);
  }

  /** Begins to wait for the next message. */
  function watch(): void {
    clearTimeout(silence);
    silence = setTimeout(() => {
      send({ type: 'ping' });
      silence = setTimeout(() => lose(abnormalClosure), pongWithinMs);
    }, silenceMs);
  }

  socket.onopen = () => send({ type: 'connection_init', payload: { Authorization: `Bearer ${key}` } });
  socket.onmessage = ({ data }) => {
    watch();
    receive(JSON.parse(data) as Received);
  };
  socket.onclose = ({ code }) => lose(code);

  return {
    subscribe(operation, listener) {
      const id = String(++lastId);
      listeners.set(id, listener);
      send({ id, type: 'subscribe', payload: operation });
      return () => {
        if (listeners.delete(id)) send({ id, type: 'complete' });
      };
    },
    close() {
      release();
      // The browser reports a connection that is closed before it is open as an error.
      if (socket.readyState === WebSocket.CONNECTING) socket.onopen = () => socket.close();
      else socket.close();
    },
  };
}
