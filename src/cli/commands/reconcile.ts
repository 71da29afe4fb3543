import { basename } from 'node:path';
import type { Command } from 'commander';
import { changeLine } from '../../intake/ingest/files/tape-report.ts';
import type { ReconcileReport } from '../../intake/ingest/options/reconcile.ts';
import type { StockReconcileReport } from '../../intake/ingest/reconcile-stocks.ts';
import { type CommandResult, printing } from '../io/command-result.ts';
import {
  type CommonOptions,
  date,
  rateOption,
  solveMostOption,
  threadsOption,
  wholeNumber,
  withCommonOptions,
  withExamples,
} from '../io/options.ts';
import { createProgress } from '../io/progress.ts';
import { withStore } from '../io/store.ts';
import type { Terminal } from '../io/terminal.ts';

interface ReconcileCommandOptions extends CommonOptions {
  session: string;
  quotes?: string[];
  dayAggregates?: string[];
  maxErrors?: number;
  rate?: number;
  solveMost?: number;
  threads: number;
}

const listedDifferences = 20;

function linesOf(report: ReconcileReport): string[] {
  const { session, status, reason, badLines, differences, compared, notes } = report;
  const indent = '           ';
  const bad = badLines.map(({ file, line, reason: why }) => `${indent}${basename(file)}:${line}  ${why}`);
  if (status === 'refused') return [`refused    ${session}  ${reason}`, ...bad];
  const unlisted = differences.length - listedDifferences;
  return [
    `reconciled ${session}  ${report.prints} prints of ${report.contracts} contracts, ${report.underlyings} underlyings; ${report.largeTrades} large trades`,
    ...(report.change ? [`${indent}${changeLine(report.change)}`] : []),
    ...bad,
    ...notes.map((note) => `${indent}note: ${note}`),
    ...(compared > 0 ? [`${indent}${differences.length} volumes differ from the day aggregates`] : []),
    ...differences
      .slice(0, listedDifferences)
      .map(({ contract, tape, dayAggregate }) => `${indent}${contract}  tape ${tape}, day aggregate ${dayAggregate}`),
    ...(unlisted > 0 ? [`${indent}and ${unlisted} more`] : []),
  ];
}

function resultOf(report: ReconcileReport): CommandResult {
  const { largeTrades, badLines, badLineCount, differences, ...rest } = report;
  return {
    json: {
      ...rest,
      large_trades: largeTrades,
      difference_count: differences.length,
      differences: differences.map(({ dayAggregate, ...each }) => ({ ...each, day_aggregate: dayAggregate })),
      bad_line_count: badLineCount,
      bad_lines: badLines,
    },
    lines: linesOf(report),
    failed: report.status === 'refused',
  };
}

async function reconcileSession(
  terminal: Terminal,
  files: string[],
  options: ReconcileCommandOptions,
): Promise<CommandResult> {
  const { session, quotes = [], dayAggregates = [], maxErrors = 0, rate, solveMost, threads } = options;
  const progress = createProgress(terminal.stderr, terminal.now);
  try {
    const [{ reconcile }, { areStockTapes, reconcileStocks }, { ensureStarterRegistry }] = await Promise.all([
      import('../../intake/ingest/options/reconcile.ts'),
      import('../../intake/ingest/reconcile-stocks.ts'),
      import('../../intake/ingest/files/lists/starter-registry.ts'),
    ]);
    return await withStore(terminal, options, async (store, { keepRemainderDays: keepDays }) => {
      await ensureStarterRegistry(store, terminal.now);
      let bytes = 0;
      const common = {
        session,
        maxErrors,
        keepDays,
        now: terminal.now,
        signal: terminal.interrupted,
        onBytes(count: number) {
          bytes += count;
          progress.update(`${Math.round(bytes / 1e6)} MB read`, null);
        },
      };
      if (await areStockTapes(files)) return stockResultOf(await reconcileStocks(store, files, common));
      const tape = { trades: files, quotes, dayAggregates };
      const report = await reconcile(store, tape, { ...common, rate, solveMost, threads });
      return resultOf(report);
    });
  } finally {
    progress.done();
  }
}

/** Result of reconciling a session of stocks. */
function stockResultOf({ badLines, badLineCount, ...report }: StockReconcileReport): CommandResult {
  const { session, status, reason, change, notes } = report;
  const indent = '           ';
  const bad = badLines.map(({ file, line, reason: why }) => `${indent}${basename(file)}:${line}  ${why}`);
  const lines =
    status === 'refused'
      ? [`refused    ${session}  ${reason}`, ...bad]
      : [
          `reconciled ${session}  ${change?.after ?? 0} prints of ${change?.symbols ?? 0} symbols`,
          ...(change ? [`${indent}${changeLine(change)}`] : []),
          ...bad,
          ...notes.map((note) => `${indent}note: ${note}`),
        ];
  const json = { ...report, bad_line_count: badLineCount, bad_lines: badLines };
  return { json, lines, failed: status === 'refused' };
}

/** `tapegraph reconcile`: rebuilds a session from its full tape. */
export function addReconcileCommand(program: Command, terminal: Terminal): void {
  const command = withCommonOptions(program.command('reconcile'))
    .summary('rebuild a session from its full tape')
    .description(
      'Rebuilds a session from its full tape of options or stocks, in one or more files, in one transaction. Of options: ' +
        'large trades, cross-sections, bars and end-of-day lists of every underlying on it, and coverage is set to ' +
        'reconciled; volumes that differ from the day aggregates are reported, and their underlyings are not marked ' +
        'complete. Of stocks: bars and off-exchange figures of every symbol on it. What is stored of these is replaced.',
    )
    .argument('<file...>', "option or stock trades, or patterns in quotes such as 'trades/2026-11-20*.csv.gz'")
    .requiredOption('--session <date>', 'the session', date)
    .option('--quotes <file...>', 'its option quotes, used for trade sides instead of the stored ones')
    .option('--day-aggregates <file...>', 'its contract day aggregates, to compare volumes with')
    .option(
      '--max-errors <n>',
      'maximum number of bad lines; with any, nothing is marked complete (default: 0)',
      wholeNumber(0, 1_000_000_000),
    )
    .addOption(rateOption())
    .addOption(solveMostOption())
    .addOption(threadsOption());
  withExamples(command, [
    [
      'reconcile --session 2026-11-20 trades.csv.gz --quotes quotes.csv.gz --day-aggregates day.csv.gz',
      'after the close',
    ],
    [
      "reconcile --session 2026-11-20 'trades/2026-11-20-*.csv.gz' --json",
      'a tape in several files; a report for scripts',
    ],
  ]);
  command.action(
    printing(
      terminal,
      () => command.opts(),
      (files: string[]) => reconcileSession(terminal, files, command.opts<ReconcileCommandOptions>()),
    ),
  );
}
