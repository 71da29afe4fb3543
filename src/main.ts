import { Interrupted } from './cli/io/terminal.ts';
import { run } from './cli/run.ts';

const interruption = new AbortController();
// Once each: a second signal finds no listener and ends the process at once.
for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const)
  process.once(signal, () => interruption.abort(new Interrupted(signal)));
// A reader that went away (`tapegraph export … | head`) is no failure.
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
});
