import type { Command } from 'commander';
import type { DistributedTable, DistributeProgress } from '../../store/cluster/distribute.ts';
import { type CommandResult, megabytes, printing, table } from '../io/command-result.ts';
import { type CommonOptions, configOf, withCommonOptions, withExamples } from '../io/options.ts';
import { createProgress } from '../io/progress.ts';
import { withStore } from '../io/store.ts';
import type { Terminal } from '../io/terminal.ts';

interface DistributeCommandOptions extends CommonOptions {
  print?: boolean;
}

async function resultOf(tables: readonly DistributedTable[]): Promise<CommandResult> {
  const { tablePlacements } = await import('../../store/cluster/distribution.ts');
  if (tables.length === 0) return { json: { tables }, lines: ['Every table is distributed: nothing to do.'] };
  const rows = tables.map(({ table, by, bytes }) => [
    table,
    by !== null ? `by ${by}` : tablePlacements[table] === 'everywhere' ? 'on every node' : 'on the coordinator',
    megabytes(bytes),
  ]);
  return { json: { tables }, lines: table(['TABLE', 'PLACEMENT', 'SIZE'], rows) };
}

async function runDistribute(terminal: Terminal, options: DistributeCommandOptions): Promise<CommandResult> {
  const { requireAlone } = await import('../../store/cluster/distribute.ts');
  const { distribute } = await import('../../store/cluster/distribute.ts');
  await requireAlone(configOf(terminal, options).databaseUrl);
  const progress = createProgress(terminal.stderr, terminal.now);
  const onProgress = ({ table, index, tables, bytes }: DistributeProgress) =>
    progress.update(`${index + 1}/${tables}  ${table}  ${megabytes(bytes)}`, index / tables);
  try {
    const signal = terminal.interrupted;
    return await resultOf(await withStore(terminal, options, (store) => distribute(store, { signal, onProgress })));
  } finally {
    progress.done();
  }
}

async function printStatements(): Promise<CommandResult> {
  const { distributionSql } = await import('../../store/cluster/distribution.ts');
  return { json: { statements: distributionSql() }, lines: distributionSql() };
}

/** `tapegraph distribute`: spreads the tables over the nodes of a Citus cluster. */
export function addDistributeCommand(program: Command, terminal: Terminal): void {
  const command = withCommonOptions(program.command('distribute'))
    .summary('distribute the tables over a Citus cluster')
    .description(
      'Distributes the tables of DATABASE_URL over the nodes of a PostgreSQL with the citus extension, while nothing else uses the store. ' +
        'Distributed tables are not changed; the next run resumes one that was stopped.',
    )
    .option('--print', 'print the SQL for psql, and change nothing');
  withExamples(command, [
    ['distribute', 'distribute the tables that are not distributed yet'],
    ['distribute --print', 'the SQL for an empty store'],
  ]);
  command.action(
    printing(
      terminal,
      () => command.opts(),
      () => {
        const options = command.opts<DistributeCommandOptions>();
        return options.print ? printStatements() : runDistribute(terminal, options);
      },
    ),
  );
}
