/** A frame as a client sends it; whatever is not given is right. */
export interface ClientFrame {
  opcode: number;
  payload: Buffer;
  /** The last of its message. */
  fin?: boolean;
  /** The reserved bits, 0 to 7. */
  reserved?: number;
  /** Four bytes; null = the frame is not masked. */
  mask: Buffer | null;
  /** The length that the header gives, if it lies. */
  length?: number;
}

export const opcodes = { continuation: 0, text: 1, bytes: 2, close: 8, ping: 9, pong: 10 } as const;

function lengthBytes(length: number, maskBit: number): Buffer {
  if (length < 126) return Buffer.from([maskBit | length]);
  const bytes = Buffer.alloc(length < 65_536 ? 3 : 9);
  if (length < 65_536) {
    bytes[0] = maskBit | 126;
    bytes.writeUInt16BE(length, 1);
  } else {
    bytes[0] = maskBit | 127;
    bytes.writeBigUInt64BE(BigInt(length), 1);
  }
  return bytes;
}

/** The bytes of a frame. */
export function frameBytes({ opcode, payload, fin = true, reserved = 0, mask, length }: ClientFrame): Buffer {
  const first = Buffer.from([(fin ? 0x80 : 0) | (reserved << 4) | opcode]);
  const size = lengthBytes(length ?? payload.length, mask ? 0x80 : 0);
  if (mask === null) return Buffer.concat([first, size, payload]);
  return Buffer.concat([first, size, mask, payload.map((byte, at) => byte ^ mask[at % 4]!)]);
}

/** A frame of a server, by its kind. */
export interface ServerFrame {
  opcode: number;
  payload: Buffer;
}

/**
 * Reads the frames of a server: returns those that are complete, and keeps the rest. Throws for one that no server may
 * send: masked, with reserved bits, or with an opcode that is none.
 */
export function serverFrames(): (bytes: Buffer) => ServerFrame[] {
  let kept: Buffer = Buffer.alloc(0);
  const next = (): ServerFrame | null => {
    if (kept.length < 2) return null;
    const [first, second] = [kept[0]!, kept[1]!];
    const opcode = first & 0x0f;
    if (first < 0x80 || first & 0x70 || second & 0x80 || !Object.values<number>(opcodes).includes(opcode))
      throw new Error(`a frame that no server may send: ${kept.subarray(0, 16).toString('hex')}`);
    const short = second & 0x7f;
    const begin = short === 126 ? 4 : short === 127 ? 10 : 2;
    if (kept.length < begin) return null;
    const length = begin === 2 ? short : begin === 4 ? kept.readUInt16BE(2) : Number(kept.readBigUInt64BE(2));
    if (kept.length < begin + length) return null;
    const payload = Buffer.from(kept.subarray(begin, begin + length));
    kept = kept.subarray(begin + length);
    return { opcode, payload };
  };
  return (bytes) => {
    kept = Buffer.concat([kept, bytes]);
    const frames: ServerFrame[] = [];
    for (let frame = next(); frame; frame = next()) frames.push(frame);
    return frames;
  };
}
