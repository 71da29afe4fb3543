import { type Command, Option } from 'commander';
import type { DistributedTable, DistributeProgress } from '../../store/cluster/distribute.ts';
import { type CommandResult, megabytes, printing, table } from '../io/command-result.ts';
import { type CommonOptions, configOf, withCommonOptions, withExamples } from '../io/options.ts';
import { createProgress, type Progress } from '../io/progress.ts';
import { withStore } from '../io/store.ts';
import type { Terminal } from '../io/terminal.ts';

interface DistributeCommandOptions extends CommonOptions {
  print?: boolean;
  blockWrites?: boolean;
  rebalance?: boolean;
}

function show(progress: Progress, { table, index, tables, bytes, copied, waitsFor }: DistributeProgress): void {
  const fraction = (index + (copied === null ? 0 : Math.min(1, copied / Math.max(1, bytes)))) / tables;
  if (waitsFor === 'another run') progress.update('waiting for another run of this command', null);
  else if (waitsFor === 'writers') progress.update(`${index + 1}/${tables}  ${table}: waiting for writers`, fraction);
  else {
    const size = copied === null ? megabytes(bytes) : `${megabytes(copied)} of ${megabytes(bytes)}`;
    progress.update(`${index + 1}/${tables}  ${table}  ${size}`, fraction);
  }
}

async function resultOf(tables: readonly DistributedTable[]): Promise<CommandResult> {
  const { tablePlacements } = await import('../../store/cluster/distribution.ts');
  if (tables.length === 0) return { json: { tables }, lines: ['Every table is distributed: nothing to do.'] };
  const rows = tables.map(({ table, by, bytes, online }) => [
    table,
    by !== null ? `by ${by}` : tablePlacements[table] === 'everywhere' ? 'on every node' : 'on the coordinator',
    megabytes(bytes),
    online ? 'copied while written' : 'copied at once',
  ]);
  return { json: { tables }, lines: table(['TABLE', 'PLACEMENT', 'SIZE', 'HOW'], rows) };
}

async function runDistribute(terminal: Terminal, options: DistributeCommandOptions): Promise<CommandResult> {
  const { distribute } = await import('../../store/cluster/distribute.ts');
  const progress = createProgress(terminal.stderr, terminal.now);
  try {
    const tables = await withStore(terminal, options, (store) =>
      distribute(store, {
        blockWrites: options.blockWrites === true,
        signal: terminal.interrupted,
        onProgress: (at) => show(progress, at),
      }),
    );
    return await resultOf(tables);
  } finally {
    progress.done();
  }
}

async function runRebalance(terminal: Terminal, options: DistributeCommandOptions): Promise<CommandResult> {
  const { rebalance } = await import('../../store/cluster/rebalance.ts');
  const progress = createProgress(terminal.stderr, terminal.now);
  try {
    const moved = await withStore(terminal, options, (store) =>
      rebalance(store, {
        blockWrites: options.blockWrites === true,
        signal: terminal.interrupted,
        onProgress: (done, moves) => progress.update(`${done}/${moves}  groups of shards`, done / Math.max(1, moves)),
      }),
    );
    const lines = [moved === 0 ? 'The nodes are balanced: nothing to do.' : `${moved} groups of shards moved`];
    return { json: { moved }, lines };
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
      'Distributes the tables of DATABASE_URL over the nodes of a PostgreSQL with the citus extension, while they are read and written. ' +
        'Distributed tables are not changed; the next run resumes one that was stopped.',
    )
    .option('--block-writes', 'copy tables, or move shards, while their writers wait')
    .addOption(new Option('--rebalance', 'move shards to nodes that were added, instead').conflicts('print'))
    .option('--print', 'print the SQL for psql, and change nothing');
  withExamples(command, [
    ['distribute', 'distribute the tables that are not distributed yet'],
    ['distribute --rebalance', 'after citus_add_node'],
    ['distribute --print', 'the SQL for an empty store'],
  ]);
  command.action(
    printing(
      terminal,
      () => command.opts(),
      async () => {
        const options = command.opts<DistributeCommandOptions>();
        if (options.print) return printStatements();
        const { requireCluster } = await import('../../store/cluster/cluster-checks.ts');
        await requireCluster(configOf(terminal, options).databaseUrl);
        return options.rebalance ? runRebalance(terminal, options) : runDistribute(terminal, options);
      },
    ),
  );
}
