import { createInterface } from 'node:readline/promises';
import type { Command } from 'commander';
import type { Store } from '../../store/rows/connection.ts';
import type { StoredSample } from '../../store/sample-data.ts';
import { type CommandResult, printing, table } from '../io/command-result.ts';
import { type CommonOptions, withCommonOptions, withExamples } from '../io/options.ts';
import { withStore } from '../io/store.ts';
import type { Terminal, TerminalStream } from '../io/terminal.ts';

interface RemoveOptions extends CommonOptions {
  yes?: boolean;
}

const isEmpty = ({ rows }: StoredSample) => Object.keys(rows).length === 0;

/** State of the sample market's data, as one word. */
async function stateOf(store: Store, stored: StoredSample): Promise<string> {
  const { hasOwnData } = await import('../../store/rows/metadata.ts');
  if (isEmpty(stored)) return 'absent';
  if (stored.served.length === 0) return 'set_aside';
  return (await hasOwnData(store)) ? 'kept' : 'served';
}

const stateTexts: Readonly<Record<string, string>> = {
  absent: 'Nothing of the sample market is stored.',
  set_aside: 'The sample market is stored and not served: the store holds other data.',
  kept: 'The sample market is served beside other data (--keep-sample).',
  served: 'The store holds the sample market alone, which is served.',
};

function rowsOf({ rows }: StoredSample): string[] {
  const counts = Object.entries(rows).sort(([a], [b]) => (a < b ? -1 : 1));
  return counts.length === 0
    ? []
    : table(
        ['TABLE', 'ROWS'],
        counts.map(([name, count]) => [name, String(count)]),
      );
}

const jsonOf = (state: string, { served, rows }: StoredSample) => ({ state, symbols: served, rows });

async function show(terminal: Terminal, options: CommonOptions): Promise<CommandResult> {
  const { storedSample } = await import('../../store/sample-data.ts');
  return withStore(terminal, options, async (store) => {
    const stored = await storedSample(store.primary);
    const state = await stateOf(store, stored);
    return { json: jsonOf(state, stored), lines: [stateTexts[state]!, ...rowsOf(stored)] };
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
  const [{ removeSample, storedSample }, { inTransaction }] = await Promise.all([
    import('../../store/sample-data.ts'),
    import('../../store/rows/transaction.ts'),
  ]);
  return withStore(terminal, options, async (store) => {
    const stored = await storedSample(store.primary);
    const state = await stateOf(store, stored);
    const json = { ...jsonOf(state, stored), removed: false };
    if (state === 'absent') return { json, lines: [stateTexts.absent!] };
    const lines = [stateTexts[state]!, ...rowsOf(stored)];
    if (!options.yes) {
      terminal.stderr.write(`${lines.join('\n')}\n`);
      const answer = await confirmed(terminal, 'Delete these rows? Other data stays. [y/N] ');
      if (answer === null) return { json, lines: ['Nothing was deleted: confirm with --yes.'], failed: true };
      if (!answer) return { json, lines: ['Nothing was deleted.'], failed: true };
    }
    await inTransaction(store, removeSample);
    return { json: { ...json, removed: true }, lines: [...lines, 'Deleted.'] };
  });
}

/** `tapegraph sample`: shows or removes the stored sample market. */
export function addSampleCommands(program: Command, terminal: Terminal): void {
  const sample = program.command('sample').summary('the stored sample market: show, remove');
  const showing = withCommonOptions(sample.command('show'))
    .summary('print what is stored of the sample market')
    .description('Prints whether the sample market is served, and the number of its rows per table.');
  withExamples(showing, [['sample show', 'whether it is served, and its rows']]);
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
      'Deletes everything that is stored of the sample market, in one transaction; other data stays. Prints what it deletes and asks first.',
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
