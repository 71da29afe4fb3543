// A process that answers requests for `tapegraph serve`. cli/server/worker-pool.ts starts and controls it.
import cluster from 'node:cluster';
import { runWorker } from './cli/server/worker.ts';
import { runBeforeSuddenEnd } from './platform/runtime/sudden-end.ts';

/** Time for which the process continues after it is asked to end at once, ms. */
const suddenEndMs = 400;

const worker = cluster.worker!;
const interrupted = new AbortController();
// Ctrl-C, and the closing of the terminal, reach every process; the parent process decides when this one ends.
for (const signal of ['SIGINT', 'SIGHUP'] as const) process.on(signal, () => {});
process.once('SIGTERM', () => interrupted.abort());
// Without this the process would end immediately when its parent does.
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
    cpuMs: () => {
      const { user, system } = process.cpuUsage();
      return (user + system) / 1000;
    },
    end: () => void runBeforeSuddenEnd(suddenEndMs).then(() => process.kill(process.pid, 'SIGKILL')),
  },
);
process.exitCode = well ? 0 : 1;
if (process.connected) process.disconnect();
