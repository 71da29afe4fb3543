import type { Command } from 'commander';
import { printing } from '../io/command-result.ts';
import { type CommonOptions, withCommonOptions, withExamples } from '../io/options.ts';
import { withStore } from '../io/store.ts';
import type { Terminal } from '../io/terminal.ts';

/**
 * `tapegraph migrate`: brings the store to this version. Every command that opens the store does so; this one does
 * nothing else.
 */
export function addMigrateCommand(program: Command, terminal: Terminal): void {
  const command = withCommonOptions(program.command('migrate'))
    .summary('migrate the store to this version')
    .description(
      'Migrates the store to this version, in one transaction. Fails without changes if the store is newer.',
    );
  withExamples(command, [
    ['migrate', 'the embedded store, or the server of DATABASE_URL'],
    ['migrate --json', 'list the applied migrations as {"applied": […]}'],
  ]);
  command.action(
    printing(
      terminal,
      () => command.opts(),
      async () => {
        const applied = await withStore(terminal, command.opts<CommonOptions>(), async (store) => store.migrated);
        return {
          json: { applied },
          lines: applied.length === 0 ? ['The store is up to date.'] : applied.map((name) => `applied ${name}`),
        };
      },
    ),
  );
}
