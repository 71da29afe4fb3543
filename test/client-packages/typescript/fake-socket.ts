/** A message of graphql-transport-ws. */
interface Message {
  type: string;
  id?: string;
  payload?: unknown;
}

/** A WebSocket without a network, whose other side is the test. */
export class FakeSocket {
  static opened: FakeSocket[] = [];

  readonly sent: Message[] = [];
  readonly url: string;
  readonly protocol: string;
  readyState = 0;
  closedWith: number | null = null;
  onopen: (() => void) | null = null;
  onmessage: ((event: { data: string }) => void) | null = null;
  onclose: ((event: { code: number; reason: string }) => void) | null = null;
  onerror: (() => void) | null = null;

  constructor(url: string, protocol: string) {
    this.url = url;
    this.protocol = protocol;
    FakeSocket.opened.push(this);
  }

  send(text: string): void {
    this.sent.push(JSON.parse(text));
  }

  close(code = 1005): void {
    if (this.readyState === 3) return;
    this.readyState = 3;
    this.closedWith = code;
    this.onclose?.({ code, reason: '' });
  }

  /** Opens the connection and acknowledges it. */
  async accept(): Promise<void> {
    this.readyState = 1;
    this.onopen?.();
    // The credential may have to be fetched.
    await new Promise((resolve) => setImmediate(resolve));
    this.say({ type: 'connection_ack' });
  }

  say(message: Message): void {
    this.onmessage?.({ data: JSON.stringify(message) });
  }

  /** Ends the connection as the server does. */
  drop(code = 1006, reason = ''): void {
    this.readyState = 3;
    this.onclose?.({ code, reason });
  }
}
