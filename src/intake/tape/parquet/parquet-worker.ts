import { parentPort } from 'node:worker_threads';
import { parquetCsv, reasonOf } from './parquet-csv.ts';
import type { FromDecoder, ToDecoder } from './parquet-thread.ts';

// Runs in a thread of its own (parquet-thread.ts): a file at a time, and a piece of its text for each question.
const port = parentPort!;
const answer = (message: FromDecoder, memory: ArrayBuffer[] = []) => port.postMessage(message, memory);

let texts: ReturnType<typeof parquetCsv> | null = null;

async function next(): Promise<void> {
  const { done, value } = await texts!.next();
  if (done) return answer({ kind: 'end' });
  // Not a view of memory that other texts share.
  const text = new Uint8Array(value.text);
  answer({ kind: 'text', text, bytes: value.bytes }, [text.buffer]);
}

port.on('message', (asked: ToDecoder) => {
  if (asked.kind === 'open') texts = parquetCsv(asked.path, (values) => answer({ kind: 'work', values }));
  else if (asked.kind === 'close') void texts?.return(undefined);
  else next().catch((error: Error) => answer({ kind: 'failed', message: reasonOf(error) }));
});
