import { Command, CommanderError } from 'commander';
import { productVersion } from '../platform/runtime/product-version.ts';
import { addAccountCommands } from './commands/account.ts';
import { addCaptureCommands } from './commands/capture.ts';
import { addCostCommand } from './commands/cost.ts';
import { addDistributeCommand } from './commands/distribute.ts';
import { addExportCommand } from './commands/export/export.ts';
import { addFollowCommand } from './commands/follow.ts';
import { addIngestCommand } from './commands/ingest.ts';
import { addKeyCommands } from './commands/key.ts';
import { addMigrateCommand } from './commands/migrate.ts';
import { addQuoteCommands } from './commands/quotes.ts';
import { addRecomputeCommand } from './commands/recompute.ts';
import { addReconcileCommand } from './commands/reconcile.ts';
import { addReproduceCommand } from './commands/reproduce.ts';
import { addRoutesCommands } from './commands/routes.ts';
import { addSampleCommands } from './commands/sample.ts';
import { addSealCommand } from './commands/seal.ts';
import { addServeCommand } from './commands/serve.ts';
import { addSessionCommands } from './commands/session.ts';
import { addPruneCommand, addStoreCommands } from './commands/store.ts';
import { CommandFailed, failureText } from './io/command-result.ts';
import { addConfigCommand } from './io/config.ts';
import { Interrupted, type Terminal } from './io/terminal.ts';

/** Exit codes of every command. */
const exitCodes = { ok: 0, failure: 1, usage: 2 } as const;

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

/** Creates the command line. It never ends the process: an invalid command line is thrown as a `CommanderError`. */
export function createProgram(terminal: Terminal): Command {
  const program = new Command('tapegraph');
  program
    .description('A gateway for market-data analytics: vendor files in, one GraphQL graph and a REST contract out.')
    .version(productVersion, '-V, --version', 'print the version')
    .helpOption('-h, --help', 'print help')
    .helpCommand('help [command]', 'print help for a command')
    .configureHelp({ showGlobalOptions: false })
    .configureOutput({
      writeOut: (text) => terminal.stdout.write(text),
      writeErr: (text) => terminal.stderr.write(text),
      getOutHelpWidth: () => terminal.stdout.columns ?? 120,
      getErrHelpWidth: () => terminal.stderr.columns ?? 120,
      outputError: (text, write) => write(text.replace(/^error: /, 'tapegraph: ')),
    })
    .showHelpAfterError('(see --help)')
    .exitOverride();
  const commands = [
    addServeCommand,
    addIngestCommand,
    addReconcileCommand,
    addRecomputeCommand,
    addReproduceCommand,
    addSealCommand,
    addSampleCommands,
    addQuoteCommands,
    addFollowCommand,
    addCaptureCommands,
    addExportCommand,
    addCostCommand,
    addAccountCommands,
    addKeyCommands,
    addSessionCommands,
    addStoreCommands,
    addPruneCommand,
    addRoutesCommands,
    addMigrateCommand,
    addDistributeCommand,
    addConfigCommand,
  ];
  for (const add of commands) add(program, terminal);
  return program;
}
