import { Command } from 'commander';
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
import { addConfigCommand } from './io/config.ts';
import type { Terminal } from './io/terminal.ts';

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
