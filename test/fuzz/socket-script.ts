import { type ClientFrame, frameBytes, opcodes } from './socket-frames.ts';

/** A client's next step. `{credential}` and `{ticket}` in a message stand for those of the request. */
export type SocketStep =
  /** Sends a message in `pieces` fragments, with a ping between them if there is more than one. */
  | { does: 'send'; opcode: number; payload: Buffer; pieces: number; mask: Buffer }
  /** Sends bytes as they are. */
  | { does: 'bytes'; bytes: Buffer }
  /** Waits until the server has said something more, or closes. */
  | { does: 'wait' };

/**
 * End of a script. `asked`: a message that is always answered, after all answers to queries. `refused`: the server must
 * close by itself. `closed`: the client closes. `ended`: it ends its side. `left`: it is gone.
 */
export type SocketEnding = 'asked' | 'refused' | 'closed' | 'ended' | 'left';

/** Steps of a client over one WebSocket. */
export interface SocketScript {
  endpoint: 'channel' | 'graph';
  /** The lines of the handshake. */
  handshake: string;
  /** The ticket that the client has; null = it asks for none. */
  ticket: 'new' | 'used' | 'none';
  steps: SocketStep[];
  ending: SocketEnding;
  /** Ids of queries, each of which is answered to its end. */
  queries: string[];
  /** The symbol that an operation's whole answer is made of, by its id. */
  about: Readonly<Record<string, string>>;
}

/** Text as the message that a client sends, and what it stands for filled in. */
const filled = (payload: Buffer, { credential, ticket }: { credential: string; ticket: string }): Buffer =>
  payload.includes('{credential}') || payload.includes('{ticket}')
    ? Buffer.from(
        payload.toString('latin1').replaceAll('{credential}', credential).replaceAll('{ticket}', ticket),
        'latin1',
      )
    : payload;

/** The bytes of a step. */
export function stepBytes(step: SocketStep, credentials: { credential: string; ticket: string }): Buffer {
  if (step.does === 'wait') return Buffer.alloc(0);
  if (step.does === 'bytes') return step.bytes;
  const { opcode, pieces, mask } = step;
  const payload = filled(step.payload, credentials);
  const size = Math.ceil(payload.length / pieces);
  const frames = Array.from({ length: pieces }, (_, at): ClientFrame => {
    const part = payload.subarray(at * size, (at + 1) * size);
    const isControl = opcode >= opcodes.close;
    return {
      opcode: at === 0 || isControl ? opcode : opcodes.continuation,
      payload: part,
      fin: at === pieces - 1,
      mask,
    };
  });
  const ping = frameBytes({ opcode: opcodes.ping, payload: Buffer.from('between'), mask });
  return Buffer.concat(frames.flatMap((frame, at) => (at === 0 ? [frameBytes(frame)] : [ping, frameBytes(frame)])));
}

/** The texts that a script sends, one after the other. */
export const sentText = ({ steps }: SocketScript): string =>
  steps.map((step) => (step.does === 'send' ? step.payload.toString() : '')).join('\n');

/** A script as the bytes that it sends, as far as they do not wait for an answer. */
export function scriptBytes(script: SocketScript): Buffer {
  const names = { credential: '{credential}', ticket: '{ticket}' };
  const head = Buffer.from(script.handshake, 'latin1');
  return Buffer.concat([head, ...script.steps.map((step) => stepBytes(step, names))]);
}
