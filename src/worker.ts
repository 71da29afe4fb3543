// A process that answers requests for `tapegraph serve`. It is started by cli/server/worker-pool.ts, which tells it
// what to do.
import cluster from 'node:cluster';
import { runWorker } from './cli/server/worker.ts';
import { runBeforeSuddenEnd } from './runtime/sudden-end.ts';

/** Time for which the process goes on when it is to end at once, ms. */
const suddenEndMs = 400;

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
    end: () => void runBeforeSuddenEnd(suddenEndMs).then(() => process.kill(process.pid, 'SIGKILL')),
  },
);
process.exitCode = well ? 0 : 1;
if (process.connected) process.disconnect();
