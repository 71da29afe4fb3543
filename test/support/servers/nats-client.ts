import { once } from 'node:events';
import { connect, type Socket } from 'node:net';

/** A connection to a NATS server: what tests send and receive, in the protocol's own words. */
export interface NatsClient {
  publish(subject: string, payload: string): void;
  /** Calls `take` with each message of a subject, in order. */
  subscribe(subject: string, take: (payload: string) => void): void;
  /** The answer to a request of JetStream. Throws its error. */
  request(subject: string, payload: object): Promise<Record<string, unknown>>;
  /** Resolves when the server has taken everything sent so far. */
  flush(): Promise<void>;
  close(): void;
}

class Connection implements NatsClient {
  readonly #socket: Socket;
  readonly #subscriptions = new Map<string, (payload: string) => void>();
  readonly #pongs: (() => void)[] = [];
  #rest: Buffer = Buffer.alloc(0);

  constructor(socket: Socket) {
    this.#socket = socket;
    socket.on('data', (bytes) => this.#read(bytes));
    socket.write('CONNECT {"verbose":false,"pedantic":false,"headers":false,"lang":"test"}\r\n');
  }

  publish(subject: string, payload: string): void {
    this.#socket.write(`PUB ${subject} ${Buffer.byteLength(payload)}\r\n${payload}\r\n`);
  }

  subscribe(subject: string, take: (payload: string) => void): void {
    const id = String(this.#subscriptions.size + 1);
    this.#subscriptions.set(id, take);
    this.#socket.write(`SUB ${subject} ${id}\r\n`);
  }

  request(subject: string, payload: object): Promise<Record<string, unknown>> {
    const inbox = `_INBOX.${this.#subscriptions.size}.${process.pid}`;
    const { promise, resolve, reject } = Promise.withResolvers<Record<string, unknown>>();
    this.subscribe(inbox, (text) => {
      const answer = JSON.parse(text);
      if (answer.error) reject(new Error(`${subject}: ${JSON.stringify(answer.error)}`));
      else resolve(answer);
    });
    const text = JSON.stringify(payload);
    this.#socket.write(`PUB ${subject} ${inbox} ${Buffer.byteLength(text)}\r\n${text}\r\n`);
    return promise;
  }

  flush(): Promise<void> {
    const { promise, resolve } = Promise.withResolvers<void>();
    this.#pongs.push(resolve);
    this.#socket.write('PING\r\n');
    return promise;
  }

  close(): void {
    this.#socket.destroy();
  }

  #read(bytes: Buffer): void {
    this.#rest = Buffer.concat([this.#rest, bytes]);
    for (let end = this.#rest.indexOf('\r\n'); end >= 0; end = this.#rest.indexOf('\r\n')) {
      const [word, ...args] = this.#rest.toString('latin1', 0, end).split(' ');
      let next = end + 2;
      if (word === 'MSG') {
        const [from, length] = [next, Number(args.at(-1))];
        next += length + 2;
        if (next > this.#rest.length) return;
        this.#subscriptions.get(args[1]!)!(this.#rest.toString('utf8', from, from + length));
      } else if (word === 'PING') this.#socket.write('PONG\r\n');
      else if (word === 'PONG') this.#pongs.shift()?.();
      else if (word === '-ERR') throw new Error(args.join(' '));
      this.#rest = this.#rest.subarray(next);
    }
  }
}

/** Connects to a server on this machine. */
export async function natsClient(port: number): Promise<NatsClient> {
  const socket = connect(port, '127.0.0.1');
  await once(socket, 'connect');
  return new Connection(socket);
}
