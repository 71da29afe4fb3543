import type { Command } from 'commander';
import { type CommandResult, printing, table } from '../io/command-result.ts';
import { type CommonOptions, date, withCommonOptions, withExamples } from '../io/options.ts';
import { withStore } from '../io/store.ts';
import type { Terminal } from '../io/terminal.ts';

async function list(terminal: Terminal, options: CommonOptions): Promise<CommandResult> {
  const { listQuotes } = await import('../../store/chain/option-quotes.ts');
  const stored = await withStore(terminal, options, listQuotes);
  const rows = stored.map(({ session, underlying, contracts, quotes, bytes }) => [
    session,
    underlying,
    String(contracts),
    String(quotes),
    `${(bytes / 1e6).toFixed(1)} MB`,
    (bytes / quotes).toFixed(1),
  ]);
  const header = ['SESSION', 'UNDERLYING', 'CONTRACTS', 'QUOTES', 'SIZE', 'BYTES EACH'];
  return { json: { quotes: stored }, lines: stored.length === 0 ? ['No quotes.'] : table(header, rows) };
}

async function drop(terminal: Terminal, options: CommonOptions & { before: string }): Promise<CommandResult> {
  const { before } = options;
  const [{ dropQuotes }, { inTransaction }] = await Promise.all([
    import('../../store/chain/option-quotes.ts'),
    import('../../store/rows/transaction.ts'),
  ]);
  const dropped = await withStore(terminal, options, (store) => inTransaction(store, (tx) => dropQuotes(tx, before)));
  return { json: { before, dropped }, lines: [`${dropped} quotes of sessions before ${before} deleted`] };
}

/** `tapegraph quotes`: lists stored option quotes, and removes those that are no longer required. */
export function addQuoteCommands(program: Command, terminal: Terminal): void {
  const quotes = program.command('quotes').summary('stored option quotes: list, delete');
  const listing = withCommonOptions(quotes.command('list'))
    .summary('list the stored quotes')
    .description('Lists the stored option quotes by session and underlying, with their size.');
  withExamples(listing, [['quotes list', 'how much space do they take?']]);
  listing.action(
    printing(
      terminal,
      () => listing.opts(),
      () => list(terminal, listing.opts<CommonOptions>()),
    ),
  );
  const dropping = withCommonOptions(quotes.command('drop'))
    .summary('delete quotes of past sessions')
    .description(
      'Deletes the option quotes of sessions before a date. Results computed from them stay. A tape of such a session that is read again ' +
        'without quotes has no trade sides.',
    )
    .requiredOption('--before <date>', 'first session whose quotes are kept', date);
  withExamples(dropping, [['quotes drop --before 2026-11-16', 'quotes of last week and before']]);
  dropping.action(
    printing(
      terminal,
      () => dropping.opts(),
      () => drop(terminal, dropping.opts<CommonOptions & { before: string }>()),
    ),
  );
}
