import { CommanderError } from 'commander';
import { CommandFailed } from './io/command-result.ts';
import { failureText } from './io/failure-text.ts';
import { Interrupted, type Terminal } from './io/terminal.ts';
import { createProgram } from './program.ts';

/** Exit codes of every command. */
export const exitCodes = { ok: 0, failure: 1, usage: 2 } as const;

function wantsStack(terminal: Terminal): boolean {
  return ['debug', 'trace'].includes(terminal.env.LOG_LEVEL?.trim() ?? '');
}

// With --json a failure is one object too, so that a program can always parse the output.
function reportFailure(message: string, argv: readonly string[], terminal: Terminal): void {
  if (argv.includes('--json')) terminal.stdout.write(`${JSON.stringify({ error: { message } })}\n`);
}

function failed(error: unknown, argv: readonly string[], terminal: Terminal): number {
  if (error instanceof CommandFailed) return exitCodes.failure;
  if (error instanceof CommanderError) {
    if (error.exitCode === 0) return exitCodes.ok;
    reportFailure(error.message.replace(/^error: /, ''), argv, terminal);
    return exitCodes.usage;
  }
  // A reader of stdout that closed it early got what it wanted.
  const { reason } = terminal.interrupted;
  if (reason instanceof Interrupted && reason.by === 'EPIPE') return exitCodes.ok;
  const message = failureText(error);
  terminal.stderr.write(`tapegraph: ${message}\n`);
  if (wantsStack(terminal) && error instanceof Error) terminal.stderr.write(`${error.stack}\n`);
  reportFailure(message, argv, terminal);
  return exitCodes.failure;
}

/** Runs one command line (without the program's own name) and returns the exit code. */
export async function run(argv: readonly string[], terminal: Terminal): Promise<number> {
  try {
    await createProgram(terminal).parseAsync(argv, { from: 'user' });
    return exitCodes.ok;
  } catch (error) {
    return failed(error, argv, terminal);
  }
}
