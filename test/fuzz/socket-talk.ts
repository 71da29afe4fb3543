import { once } from 'node:events';
import { connect, type Socket } from 'node:net';
import type { FuzzRequest } from './request.ts';
import type { Came } from './send.ts';
import { frameBytes, opcodes, type ServerFrame, serverFrames } from './socket-frames.ts';
import { type SocketScript, type SocketStep, stepBytes } from './socket-script.ts';

/** Conversation with a server over a WebSocket. */
export interface Talked {
  /** Text messages, in their order. */
  texts: string[];
  /** Binary messages. */
  bytes: Buffer[];
  /** The code of the server's close frame, 1005 for one without; null = it sent none. */
  code: number | null;
  /** The act the server should have done and did not; null = nothing. */
  missing: string | null;
}

const mask = Buffer.from([1, 2, 3, 4]);
const textFrame = (message: object) =>
  frameBytes({ opcode: opcodes.text, payload: Buffer.from(JSON.stringify(message)), mask });

/** A message that is answered whatever came before it, and how its answer is known. */
const questions = {
  channel: {
    bytes: textFrame({ op: 'ping', t: 'the last' }),
    isAnswer: (text: string) => text === '{"op":"pong","t":"the last"}',
  },
  graph: {
    bytes: textFrame({ type: 'ping', payload: { the: 'last' } }),
    isAnswer: (text: string) => text === '{"type":"pong","payload":{"the":"last"}}',
  },
};

/** A connection on which a handshake was sent, and what has come over it. */
interface Conversation extends Talked {
  socket: Socket;
  /** The HTTP answer to the handshake. */
  head: string;
  isOver: boolean;
  /** Waits until it is so, or the connection is over; false = neither within the client's patience. */
  until(isSo: () => boolean): Promise<boolean>;
}

/** Notes what comes: the answer to the handshake, then frames. */
function listen(conversation: Conversation): (chunk: Buffer) => void {
  const read = serverFrames();
  const note = ({ opcode, payload }: ServerFrame) => {
    if (opcode === opcodes.text) conversation.texts.push(payload.toString());
    if (opcode === opcodes.bytes) conversation.bytes.push(payload);
    if (opcode === opcodes.close) conversation.code = payload.length < 2 ? 1005 : payload.readUInt16BE(0);
  };
  return (chunk) => {
    let bytes = chunk;
    if (!isUpgraded(conversation.head)) {
      conversation.head += chunk.toString('latin1');
      const end = conversation.head.indexOf('\r\n\r\n');
      if (end === -1 || !conversation.head.startsWith('HTTP/1.1 101')) return;
      bytes = Buffer.from(conversation.head.slice(end + 4), 'latin1');
      conversation.head = conversation.head.slice(0, end + 4);
    }
    try {
      read(bytes).forEach(note);
    } catch (error) {
      conversation.missing ??= String(error);
      conversation.socket.destroy();
    }
  };
}

const isUpgraded = (head: string) => head.startsWith('HTTP/1.1 101') && head.endsWith('\r\n\r\n');

async function converse(url: string, patienceMs: number): Promise<Conversation> {
  const { hostname, port } = new URL(url);
  const socket = connect({ host: hostname, port: Number(port), allowHalfOpen: true });
  const looks = new Set<() => void>();
  const conversation: Conversation = {
    socket,
    head: '',
    texts: [],
    bytes: [],
    code: null,
    missing: null,
    isOver: false,
    until(isSo) {
      return new Promise((resolve) => {
        const done = (met: boolean) => {
          clearTimeout(patience);
          looks.delete(look);
          resolve(met);
        };
        const look = () => {
          if (conversation.isOver || isSo()) done(true);
        };
        const patience = setTimeout(() => done(false), patienceMs);
        looks.add(look);
        look();
      });
    },
  };
  const over = () => {
    conversation.isOver = true;
    socket.destroy();
  };
  const wake = () => {
    for (const look of looks) look();
  };
  const heard = listen(conversation);
  socket.on('error', () => {});
  socket.on('data', heard).on('end', over).on('close', over);
  for (const event of ['data', 'end', 'close']) socket.on(event, wake);
  await once(socket, 'connect');
  return conversation;
}

/** Waits for what a step or an end needs; notes when it does not come. */
async function need(conversation: Conversation, what: string, isSo: () => boolean): Promise<void> {
  const isEnough = await conversation.until(() => conversation.code !== null || isSo());
  if (!isEnough) conversation.missing ??= what;
}

const isSettled = ({ texts }: Conversation, id: string) =>
  texts.some((text) => text.startsWith('{') && isEndOf(text, id));

function isEndOf(text: string, id: string): boolean {
  if (!/"type":"(complete|error)"/.test(text)) return false;
  const message = JSON.parse(text) as { id?: unknown; type?: unknown };
  return message.id === id && (message.type === 'complete' || message.type === 'error');
}

async function end(conversation: Conversation, { ending, endpoint, queries }: SocketScript): Promise<void> {
  const { socket } = conversation;
  if (ending === 'asked') {
    const { bytes, isAnswer } = questions[endpoint];
    socket.write(bytes);
    await need(conversation, 'no answer to a ping', () => conversation.texts.some(isAnswer));
    for (const id of queries) await need(conversation, `no end of the query ${id}`, () => isSettled(conversation, id));
  }
  if (ending === 'refused') await need(conversation, 'no close for frames that break the protocol', () => false);
  if (ending === 'closed') await need(conversation, 'no answer to a close', () => false);
  if (ending === 'ended') {
    socket.end();
    if (!(await conversation.until(() => false)))
      conversation.missing ??= 'the connection stays though its client ended it';
  }
}

async function perform(
  conversation: Conversation,
  steps: readonly SocketStep[],
  names: { credential: string; ticket: string },
): Promise<void> {
  const { socket } = conversation;
  let heard = 0;
  for (const step of steps) {
    if (conversation.isOver || conversation.code !== null) return;
    if (step.does === 'wait')
      await need(conversation, 'no answer to the first message', () => conversation.texts.length > heard);
    else socket.write(stepBytes(step, names));
    heard = conversation.texts.length;
  }
}

/** A ticket of a credential; one that was used if `isUsed`, and a text that is none if there is no credential. */
async function ticketOf(url: string, credential: string, isUsed: boolean, patienceMs: number): Promise<string> {
  const headers = { authorization: `Bearer ${credential}` };
  const response = await fetch(`${url}/v2/stream/ticket`, { method: 'POST', headers });
  const { data } = (await response.json()) as { data?: { ticket: string } };
  if (data === undefined) return 'none';
  if (!isUsed) return data.ticket;
  const first = await converse(url, patienceMs);
  first.socket.write(plainHandshake);
  first.socket.write(textFrame({ op: 'auth', ticket: data.ticket, proto: 3, encoding: 'protobuf' }));
  await need(first, 'no answer to auth', () => first.texts.length > 0);
  first.socket.destroy();
  return data.ticket;
}

const plainHandshake =
  'GET /v2/ws HTTP/1.1\r\nHost: x\r\nConnection: Upgrade\r\nUpgrade: websocket\r\nSec-WebSocket-Version: 13\r\nSec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n\r\n';

/** The answer to a handshake that was rejected. */
function rejected({ head, missing }: Conversation): Came {
  const [top, ...rest] = head.split('\r\n\r\n');
  const [, ...lines] = top!.split('\r\n');
  const headers = Object.fromEntries(
    lines.map((line) => [line.slice(0, line.indexOf(':')).toLowerCase(), line.slice(line.indexOf(':') + 2)]),
  );
  const status = Number(/^HTTP\/1\.1 (\d{3})/.exec(head)?.[1] ?? 0);
  const text = Buffer.from(rest.join('\r\n\r\n'), 'latin1').toString();
  if (missing) throw new Error(missing);
  return { status, headers, text, cut: false, ms: 0 };
}

/** True if a rejection has arrived with its body; one of HEAD has none. */
const isWhole = (head: string, isHead: boolean) => {
  const begin = head.indexOf('\r\n\r\n') + 4;
  const length = Number(/^content-length: (\d+)/im.exec(head)?.[1] ?? 0);
  return begin >= 4 && (head.length >= begin + length || isHead);
};

/** Talks to a server as a script says; gives back what it said. */
export async function talkedWith(
  url: string,
  request: FuzzRequest,
  credential: string,
  patienceMs: number,
): Promise<Came> {
  const script = request.socket!;
  const isAsked = script.endpoint === 'channel' && script.ticket !== 'none';
  const ticket = isAsked ? await ticketOf(url, credential, script.ticket === 'used', patienceMs) : 'none';
  const conversation = await converse(url, patienceMs);
  const started = performance.now();
  conversation.socket.write(script.handshake.replaceAll('{credential}', credential), 'latin1');
  const isAnswered = await conversation.until(
    () => isUpgraded(conversation.head) || isWhole(conversation.head, script.handshake.startsWith('HEAD')),
  );
  if (!isAnswered) conversation.missing = 'no answer to the handshake';
  try {
    if (!isUpgraded(conversation.head)) return rejected(conversation);
    await perform(conversation, script.steps, { credential, ticket });
    await end(conversation, script);
    const { texts, bytes, code, missing } = conversation;
    const talked = { texts, bytes, code, missing };
    return {
      status: code ?? 101,
      headers: {},
      text: texts.join('\n'),
      cut: true,
      ms: performance.now() - started,
      talked,
    };
  } finally {
    conversation.socket.destroy();
  }
}
