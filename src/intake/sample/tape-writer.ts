import { createWriteStream, renameSync } from 'node:fs';
import { dirname } from 'node:path';
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { workerData } from 'node:worker_threads';
import { createGzip } from 'node:zlib';
import type { SessionDate } from '../../core/domain/market-time.ts';
import { makeFolders } from '../../platform/runtime/folders.ts';
import { liveTapeLines } from './market/live-tape.ts';
import { samplePrices } from './market/prices.ts';
import type { TapeShape } from './market/tape-shape.ts';

/** Input of the writer, which ends when the file is written. */
export interface SampleTapeWriterData {
  path: string;
  session: SessionDate;
  shape: TapeShape;
}

// Lines per chunk: a stream's step costs more than a line.
function* blocks(lines: Iterable<string>): Generator<Buffer> {
  let text = '';
  for (const line of lines) {
    text += line;
    if (text.length < 65_536) continue;
    yield Buffer.from(text);
    text = '';
  }
  yield Buffer.from(text);
}

// Runs in a thread of its own: generating a session's tape takes seconds, in which the server must answer.
async function write({ path, session, shape }: SampleTapeWriterData): Promise<void> {
  makeFolders(dirname(path));
  const lines = liveTapeLines(samplePrices(), session, shape);
  await pipeline(Readable.from(blocks(lines)), createGzip({ level: 1 }), createWriteStream(`${path}.part`));
  renameSync(`${path}.part`, path);
}

if (workerData) await write(workerData as SampleTapeWriterData);
