import { isUtf8 } from 'node:buffer';
import type { ContractBook } from '../../../core/domain/chain/contract-book.ts';
import { instantBounds } from '../../../core/domain/instant-gate.ts';
import type { Clock } from '../../../platform/runtime/clock.ts';
import type { OnBadLine } from '../csv/tape-file.ts';
import { type LiveRecord, readLiveLine } from './live-line.ts';

/** Maximum length of a line; a longer one is bad. The chain of 100,000 contracts is 20 MB. */
const maxLineBytes = 64 * 1024 * 1024;
const lineFeed = 0x0a;

/** Lines of one chunk of the stream. */
export interface LiveBatch {
  /** In line order. */
  records: LiveRecord[];
  /** Number of lines read so far, including bad and blank ones: the position to resume from. */
  throughLine: number;
}

/**
 * Collects the bytes of an incomplete line. Those of a line that is too long are dropped as they arrive, which bounds
 * memory.
 */
function lineTail() {
  let parts: Uint8Array[] = [];
  let length = 0;
  let tooLong = false;
  return {
    add(bytes: Uint8Array) {
      if (bytes.length === 0) return;
      length += bytes.length;
      if (length > maxLineBytes) {
        tooLong = true;
        parts = [];
      }
      // Copied, because the stream may reuse its buffer.
      if (!tooLong) parts.push(Uint8Array.from(bytes));
    },
    /** The whole line with its end, null if it is too long; starts the next one. */
    take(end: Uint8Array): Buffer | null {
      const whole = tooLong || length + end.length > maxLineBytes ? null : Buffer.concat([...parts, end]);
      parts = [];
      length = 0;
      tooLong = false;
      return whole;
    },
    isEmpty: () => length === 0,
  };
}

/** Settings of reading a live tape. */
export interface LiveReading {
  name: string;
  book: ContractBook;
  now: Clock;
  onBadLine: OnBadLine;
}

/**
 * Reads the live tape (docs/live-tape.md) as it arrives, e.g. from stdin: one batch for each chunk of the stream that
 * ends a line, immediately, without reading ahead of the consumer. Lines end with LF or CRLF; the last one may lack its
 * end; blank ones are skipped. Bad lines are reported to `onBadLine`, with `file` = `name`, and skipped.
 */
export async function* readLiveLines(
  source: AsyncIterable<Uint8Array>,
  { name, book, now, onBadLine }: LiveReading,
): AsyncGenerator<LiveBatch> {
  const tail = lineTail();
  let line = 0;
  let bounds = instantBounds(now());

  function read(bytes: Buffer | null): LiveRecord | string | null {
    if (bytes === null) return `over ${maxLineBytes} bytes long`;
    if (!isUtf8(bytes)) return 'not UTF-8 text';
    const text = bytes.toString('utf8');
    if (text.trim() === '') return null;
    return readLiveLine(line === 1 ? text.replace(/^\ufeff/, '') : text, book, bounds);
  }

  function take(bytes: Buffer | null, records: LiveRecord[]): void {
    line++;
    const record = read(bytes);
    if (typeof record === 'string') onBadLine({ file: name, line, reason: record });
    else if (record !== null) records.push(record);
  }

  for await (const piece of source) {
    bounds = instantBounds(now());
    const records: LiveRecord[] = [];
    let start = 0;
    for (let end = piece.indexOf(lineFeed); end >= 0; end = piece.indexOf(lineFeed, start)) {
      take(tail.take(piece.subarray(start, end)), records);
      start = end + 1;
    }
    tail.add(piece.subarray(start));
    if (start > 0) yield { records, throughLine: line };
  }
  if (!tail.isEmpty()) {
    const records: LiveRecord[] = [];
    take(tail.take(Buffer.alloc(0)), records);
    yield { records, throughLine: line };
  }
}
