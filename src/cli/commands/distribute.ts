import type { Command } from 'commander';
import { distributionSql } from '../../store/engine/distribution.ts';
import { printing } from '../io/command-result.ts';
import { withExamples } from '../io/options.ts';
import type { Terminal } from '../io/terminal.ts';

/** `tapegraph distribute`: the SQL by which Citus spreads the tables. */
export function addDistributeCommand(program: Command, terminal: Terminal): void {
  const command = program
    .command('distribute')
    .summary('print the SQL that distributes the tables over a Citus cluster')
    .description(
      'Prints the SQL, for psql, that distributes the tables over the nodes of a PostgreSQL with the citus extension. It opens no store and changes nothing.',
    )
    .option('--json', 'print one JSON object on stdout, and nothing else');
  withExamples(command, [
    ['distribute | psql "$DATABASE_URL"', 'distribute the tables of a store created by tapegraph migrate'],
    ['distribute --json', 'as {"statements": […]}'],
  ]);
  command.action(
    printing(
      terminal,
      () => command.opts(),
      async () => ({ json: { statements: distributionSql() }, lines: distributionSql() }),
    ),
  );
}
