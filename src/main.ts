import { whenLauncherEnds } from './cli/io/launcher.ts';
import { Interrupted } from './cli/io/terminal.ts';
import { terminalCloses } from './cli/io/terminal-closes.ts';
import { run } from './cli/run.ts';
import { runBeforeSuddenEnd } from './platform/runtime/sudden-end.ts';

const interruption = new AbortController();
/** Time until the process ends at a second signal, ms. */
const suddenEndMs = 500;

let reload: (() => void) | null = null;
const closed = terminalCloses(process);

for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) {
  const listener = () => {
    if (signal === 'SIGHUP' && reload && !closed()) return reload();
    process.off(signal, listener);
    interruption.abort(new Interrupted(signal));
    // The second signal of a kind ends the process as if there were no listener, a third one immediately.
    process.once(signal, () => void runBeforeSuddenEnd(suddenEndMs).then(() => process.kill(process.pid, signal)));
  };
  process.on(signal, listener);
}
whenLauncherEnds(process, () => interruption.abort(new Interrupted('the end of its launcher')));
// A reader that stops reading (`tapegraph export … | head`) is not an error.
process.stdout.on('error', (error: NodeJS.ErrnoException) => {
  if (error.code !== 'EPIPE') throw error;
  interruption.abort(new Interrupted('EPIPE'));
});

process.exitCode = await run(process.argv.slice(2), {
  env: process.env,
  now: Date.now,
  stdin: () => process.stdin,
  stdout: process.stdout,
  stderr: process.stderr,
  interrupted: interruption.signal,
  endWithin: (ms) => void setTimeout(() => process.exit(0), ms).unref(),
  onReload: (asked) => {
    reload = asked;
  },
});
