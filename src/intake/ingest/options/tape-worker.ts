import { parentPort } from 'node:worker_threads';
import type { MadeSession } from './option-session.ts';
import type { ToThread } from './tape-threads.ts';
import { createTapeWork } from './tape-work.ts';

// Runs in a thread of its own (tape-threads.ts): one answer per task, in order.
const work = createTapeWork();
const port = parentPort!;

/** The memory of a result, which is transferred to the other thread without a copy. */
const memoryOf = ({ bars, minutes, events }: MadeSession) =>
  [bars, minutes, events.events, events.legs].flatMap(({ chunks }) => chunks.map(({ buffer }) => buffer));

async function answer(task: ToThread): Promise<void> {
  if (task.kind === 'piece') {
    const { text, length, records } = task;
    const piece = work.read(Buffer.from(text, 0, length), new Uint32Array(records));
    port.postMessage({ value: { piece, text, records } }, [text, records]);
  } else if (task.kind === 'session') {
    const made = await work.make(task.work, null);
    port.postMessage({ value: made }, memoryOf(made));
  } else work.begin(task);
}

let last: Promise<void> = Promise.resolve();
port.on('message', (task: ToThread) => {
  last = last.then(() => answer(task)).catch((error: unknown) => port.postMessage({ error }));
});
