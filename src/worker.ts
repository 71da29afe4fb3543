// One of the processes that serve for `tapegraph serve --workers`. It is started by cli/server/worker-pool.ts, which
// tells it what to do.
import cluster from 'node:cluster';
import { runWorker } from './cli/server/worker.ts';

const worker = cluster.worker!;
const interrupted = new AbortController();
// A terminal's Ctrl-C, and that it closes, reaches every process; the first process tells the others.
for (const signal of ['SIGINT', 'SIGHUP'] as const) process.on(signal, () => {});
process.once('SIGTERM', () => interrupted.abort());
// Without this the process would end immediately when its parent has ended.
worker.on('disconnect', () => {
  worker.exitedAfterDisconnect = true;
});

const well = await runWorker(
  {
    send: (message) => {
      if (worker.isConnected()) worker.send(message as never, () => {});
    },
    onMessage: (listener) => void worker.on('message', listener),
    onLost: (listener) => void worker.on('disconnect', listener),
  },
  {
    pid: process.pid,
    number: worker.id,
    terminal: {
      env: process.env,
      now: Date.now,
      stdout: process.stdout,
      stderr: process.stderr,
      endWithin: (ms) => void setTimeout(() => process.exit(0), ms).unref(),
    },
    interrupted,
  },
);
process.exitCode = well ? 0 : 1;
if (process.connected) process.disconnect();
