import { basename } from 'node:path';
import type { Command } from 'commander';
import type { ReconcileReport } from '../../ingest/options/reconcile.ts';
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
    const [{ reconcile }, { ensureStarterRegistry }] = await Promise.all([
      import('../../ingest/options/reconcile.ts'),
      import('../../ingest/files/starter-registry.ts'),
    ]);
    return await withStore(terminal, options, async (store) => {
      await ensureStarterRegistry(store, terminal.now);
      let bytes = 0;
      const report = await reconcile(
        store,
        { trades: files, quotes, dayAggregates },
        {
          session,
          maxErrors,
          rate,
          solveMost,
          threads,
          now: terminal.now,
          signal: terminal.interrupted,
          onBytes(count) {
            bytes += count;
            progress.update(`${Math.round(bytes / 1e6)} MB read`, null);
          },
        },
      );
      return resultOf(report);
    });
  } finally {
    progress.done();
  }
}

/** `tapegraph reconcile`: a session rebuilt from its full option tape. */
export function addReconcileCommand(program: Command, terminal: Terminal): void {
  const command = withCommonOptions(program.command('reconcile'))
    .summary('rebuild a session from its full option tape')
    .description(
      'Rebuilds a session from its full option tape, in one or more files: large trades, cross-sections, bars and end-of-day ' +
        'lists of every underlying on it are replaced in one transaction, and coverage is set to reconciled. Volumes that ' +
        'differ from the day aggregates are reported, and their underlyings are not marked complete.',
    )
    .argument('<file...>', "option trades, or patterns in quotes such as 'trades/2026-11-20*.csv.gz'")
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
