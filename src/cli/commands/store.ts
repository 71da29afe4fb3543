import type { Command } from 'commander';
import { type CommandResult, megabytes, printing, table } from '../io/command-result.ts';
import { type CommonOptions, withCommonOptions, withExamples } from '../io/options.ts';
import { withStore } from '../io/store.ts';
import type { Terminal } from '../io/terminal.ts';

const instant = (ms: number | null) => (ms === null ? null : new Date(ms).toISOString());

async function size(terminal: Terminal, options: CommonOptions): Promise<CommandResult> {
  const { readStoreSize } = await import('../../store/superseded/size.ts');
  const { tables, knownFromMs } = await withStore(terminal, options, readStoreSize);
  const sum = (sizeOf: (each: (typeof tables)[number]) => number) =>
    tables.reduce((all, each) => all + sizeOf(each), 0);
  const bytes = sum((each) => each.bytes);
  const superseded = {
    bytes: sum((each) => each.superseded?.bytes ?? 0),
    rows: sum((each) => each.superseded?.rows ?? 0),
  };
  const rows = [...tables, { table: 'all', bytes, superseded }].map((each) => [
    each.table,
    megabytes(each.bytes),
    each.superseded ? megabytes(each.superseded.bytes) : '',
    each.superseded ? String(each.superseded.rows) : '',
  ]);
  const from = knownFromMs === null ? [] : [`Data known before ${instant(knownFromMs)} is no longer stored.`];
  return {
    json: { bytes, superseded, known_from: instant(knownFromMs), tables },
    lines: [...table(['TABLE', 'SIZE', 'SUPERSEDED', 'ROWS'], rows), ...from],
  };
}

/** `tapegraph store`: tells the size of the store. */
export function addStoreCommands(program: Command, terminal: Terminal): void {
  const store = program.command('store').summary('the store: its size');
  const sizing = withCommonOptions(store.command('size'))
    .summary('show the space of each table')
    .description(
      'Shows the space of each table with its indexes, and of its superseded rows: those that a later file, reconciliation or recompute replaced.',
    );
  withExamples(sizing, [['store size', 'what does superseded data take?']]);
  sizing.action(
    printing(
      terminal,
      () => sizing.opts(),
      () => size(terminal, sizing.opts<CommonOptions>()),
    ),
  );
}

async function prune(terminal: Terminal, options: CommonOptions & { all?: boolean }): Promise<CommandResult> {
  const { pruneExpired, pruneSuperseded } = await import('../../store/superseded/prune.ts');
  const { rows, knownFromMs } = await withStore(terminal, options, (store) =>
    options.all ? pruneSuperseded(store, terminal.now()) : pruneExpired(store, terminal.now()),
  );
  const from = knownFromMs === null ? '' : `; data known before ${instant(knownFromMs)} is no longer stored`;
  return { json: { rows, known_from: instant(knownFromMs) }, lines: [`${rows} superseded rows deleted${from}`] };
}

/** `tapegraph prune`: deletes superseded data. */
export function addPruneCommand(program: Command, terminal: Terminal): void {
  const command = withCommonOptions(program.command('prune'))
    .summary('delete superseded data')
    .description(
      'Deletes data that a later file, reconciliation or recompute replaced longer ago than KEEP_SUPERSEDED says. It can no longer be read with known.',
    )
    .option('--all', 'delete all superseded data, however new');
  withExamples(command, [
    ['prune', 'what is older than KEEP_SUPERSEDED'],
    ['prune --all', 'free all the space that superseded data takes'],
  ]);
  command.action(
    printing(
      terminal,
      () => command.opts(),
      () => prune(terminal, command.opts<CommonOptions & { all?: boolean }>()),
    ),
  );
}
