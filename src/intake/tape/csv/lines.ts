import { isAscii, isUtf8 } from 'node:buffer';
import { type OnBytes, readBytes, TapeFileError } from './tape-file.ts';

/** Consecutive lines of a file, without their ends. `firstLine` counts from 1. */
export interface LineBatch {
  firstLine: number;
  lines: string[];
}

// Maximum length of a line; a longer one is from another kind of file.
const maxLineBytes = 4 * 1024 * 1024;
const lineFeed = 0x0a;

function decode(path: string, bytes: Buffer, firstLine: number): string {
  // Vendor files are ASCII except for names: checking and decoding ASCII costs a tenth of UTF-8's.
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
 * The bytes of a file in pieces of whole lines, without the last line end of a piece. A piece's buffer is not reused.
 */
export async function* readLineBlocks(path: string, onBytes?: OnBytes): AsyncGenerator<Buffer> {
  let rest: Buffer = Buffer.alloc(0);
  for await (const chunk of readBytes(path, onBytes)) {
    // A line feed is never part of a longer UTF-8 sequence, so whole lines are whole characters.
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
 * The lines of a text file, plain or gzip, one batch per chunk; LF and CRLF, a byte order mark is skipped, the last
 * line may lack its end.
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
