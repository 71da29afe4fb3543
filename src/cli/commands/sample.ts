import { createInterface } from 'node:readline/promises';
import type { Command } from 'commander';
import type { Store } from '../../store/rows/connection.ts';
import { type CommandResult, printing, table } from '../io/command-result.ts';
import { type CommonOptions, withCommonOptions, withExamples } from '../io/options.ts';
import { withStore } from '../io/store.ts';
import type { Terminal, TerminalStream } from '../io/terminal.ts';

interface RemoveOptions extends CommonOptions {
  yes?: boolean;
}

/** The stored sample market: number of rows by table; null = the store is of none. */
type StoredSample = Record<string, number> | null;

async function storedSample({ primary }: Store): Promise<StoredSample> {
  const [{ storeOrigin }, { marketRows }] = await Promise.all([
    import('../../store/market/session-origins.ts'),
    import('../../store/origin.ts'),
  ]);
  return (await storeOrigin(primary)) === 'sample' ? marketRows(primary) : null;
}

const absent = 'Nothing of the sample market is stored.';

function linesOf(rows: Record<string, number>): string[] {
  const counts = Object.entries(rows).sort(([a], [b]) => (a < b ? -1 : 1));
  const counted = counts.map(([name, count]) => [name, String(count)]);
  return ['The store is of the sample market.', ...(counted.length === 0 ? [] : table(['TABLE', 'ROWS'], counted))];
}

const jsonOf = (rows: StoredSample) => ({ state: rows === null ? 'absent' : 'served', rows: rows ?? {} });

async function show(terminal: Terminal, options: CommonOptions): Promise<CommandResult> {
  return withStore(terminal, options, async (store) => {
    const rows = await storedSample(store);
    return { json: jsonOf(rows), lines: rows === null ? [absent] : linesOf(rows) };
  });
}

/** True if the user at the terminal confirms; null = there is no terminal. */
async function confirmed({ stdin, stderr }: Terminal, question: string): Promise<boolean | null> {
  const input = stdin?.() as (TerminalStream & NodeJS.ReadableStream) | undefined;
  if (!input?.isTTY) return null;
  const asking = createInterface({ input, output: stderr });
  try {
    return /^y(es)?$/i.test((await asking.question(question)).trim());
  } finally {
    asking.close();
  }
}

async function remove(terminal: Terminal, options: RemoveOptions): Promise<CommandResult> {
  const [{ removeSample }, { inTransaction }] = await Promise.all([
    import('../../store/origin.ts'),
    import('../../store/rows/transaction.ts'),
  ]);
  return withStore(terminal, options, async (store) => {
    const rows = await storedSample(store);
    const json = { ...jsonOf(rows), removed: false };
    if (rows === null) return { json, lines: [absent] };
    const lines = linesOf(rows);
    if (!options.yes) {
      terminal.stderr.write(`${lines.join('\n')}\n`);
      const answer = await confirmed(terminal, 'Delete these rows? Accounts stay. [y/N] ');
      if (answer === null) return { json, lines: ['Nothing was deleted: confirm with --yes.'], failed: true };
      if (!answer) return { json, lines: ['Nothing was deleted.'], failed: true };
    }
    // Other data may have taken its place while the user was asked.
    if (!(await inTransaction(store, removeSample))) return { json, lines: [absent] };
    return { json: { ...json, removed: true }, lines: [...lines, 'Deleted.'] };
  });
}

/** `tapegraph sample`: shows or removes the stored sample market. */
export function addSampleCommands(program: Command, terminal: Terminal): void {
  const sample = program.command('sample').summary('the stored sample market: show, remove');
  const showing = withCommonOptions(sample.command('show'))
    .summary('print what is stored of the sample market')
    .description('Prints whether the store is of the sample market, and the number of its rows per table.');
  withExamples(showing, [['sample show', 'whether it is stored, and its rows']]);
  showing.action(
    printing(
      terminal,
      () => showing.opts(),
      () => show(terminal, showing.opts<CommonOptions>()),
    ),
  );
  const removing = withCommonOptions(sample.command('remove'))
    .summary('delete the sample market')
    .description(
      'Deletes everything that is stored of the sample market, in one transaction; accounts with their keys, lists and journals stay. Prints what it deletes and asks first.',
    )
    .option('--yes', 'do not ask');
  withExamples(removing, [
    ['sample remove', 'print what is stored, and ask'],
    ['sample remove --yes', 'for scripts'],
  ]);
  removing.action(
    printing(
      terminal,
      () => removing.opts(),
      () => remove(terminal, removing.opts<RemoveOptions>()),
    ),
  );
}
