import { isAscii, isUtf8 } from 'node:buffer';
import { type OnBytes, readBytes, TapeFileError } from './tape-file.ts';

/** Some consecutive lines of a file, without their ends. `firstLine` counts from 1. */
export interface LineBatch {
  firstLine: number;
  lines: string[];
}

// A line longer than this is not a line of any vendor's but a file of another kind.
const maxLineBytes = 4 * 1024 * 1024;
const lineFeed = 0x0a;

function decode(path: string, bytes: Buffer, firstLine: number): string {
  // Vendor files are ASCII but for names: its check and its decoding cost a tenth of UTF-8's.
  if (isAscii(bytes)) return bytes.toString('latin1');
  if (isUtf8(bytes)) return bytes.toString('utf8');
  throw new TapeFileError(path, `not UTF-8 text (somewhere after line ${firstLine - 1})`);
}

function linesOf(text: string): string[] {
  const lines = text.split('\n');
  if (text.includes('\r')) return lines.map((line) => (line.endsWith('\r') ? line.slice(0, -1) : line));
  return lines;
}

/**
 * The bytes of a file in pieces of whole lines, the last line end of a piece omitted. No piece is used again after it
 * was given.
 */
export async function* readLineBlocks(path: string, onBytes?: OnBytes): AsyncGenerator<Buffer> {
  let rest: Buffer = Buffer.alloc(0);
  for await (const chunk of readBytes(path, onBytes)) {
    // A line feed never is part of a longer UTF-8 sequence, so whole lines are whole characters.
    const end = chunk.lastIndexOf(lineFeed);
    if (end < 0) {
      rest = Buffer.concat([rest, chunk]);
      if (rest.length > maxLineBytes) throw new TapeFileError(path, `a line is over ${maxLineBytes} bytes long`);
      continue;
    }
    const whole = chunk.subarray(0, end);
    yield rest.length > 0 ? Buffer.concat([rest, whole]) : whole;
    rest = Buffer.from(chunk.subarray(end + 1));
  }
  if (rest.length > 0) yield rest;
}

/**
 * The lines of a text file, plain or gzip, in batches of a chunk each; LF and CRLF, a byte order mark skipped, no end
 * needed on the last.
 */
export async function* readLines(path: string, onBytes?: OnBytes): AsyncGenerator<LineBatch> {
  let firstLine = 1;
  for await (const bytes of readLineBlocks(path, onBytes)) {
    const text = decode(path, bytes, firstLine);
    const lines = linesOf(firstLine === 1 && text.charCodeAt(0) === 0xfeff ? text.slice(1) : text);
    yield { firstLine, lines };
    firstLine += lines.length;
  }
}
