import { Argument, type Command } from 'commander';
import { methodologySettings, methodologyVersion } from '../../core/analytics/methodology.ts';
import { snakeCase } from '../../core/domain/columns.ts';
import {
  type RecomputedDataset,
  recomputedContents,
  recomputedNames,
} from '../../intake/ingest/recompute/dataset-names.ts';
import type { RecomputedSession } from '../../intake/ingest/recompute/recompute.ts';
import { type CommandResult, printing } from '../io/command-result.ts';
import {
  type CommonOptions,
  date,
  delayOption,
  rateOption,
  ticker,
  withCommonOptions,
  withExamples,
} from '../io/options.ts';
import { createProgress } from '../io/progress.ts';
import { withStore } from '../io/store.ts';
import type { Terminal } from '../io/terminal.ts';

interface RecomputeCommandOptions extends CommonOptions {
  symbol?: string;
  from?: string;
  to?: string;
  rate?: number;
  delay?: number;
  all?: boolean;
}

const millions = (dollars: number | null) => (dollars === null ? 'none' : `${(dollars / 1e6).toFixed(1)}m`);

/** Describes how the figures of a session's captures changed. */
function movedText(moved: RecomputedSession['moved']): string {
  if (moved === null) return '';
  const { captures, netBefore, netAfter, largestNetChange } = moved;
  const net = `net GEX of the last ${millions(netBefore)} to ${millions(netAfter)} dollars per $1`;
  const others = Object.entries(moved.moved).filter(([, count]) => count > 0);
  const figures = others.map(([figure, count]) => `${snakeCase(figure).replaceAll('_', ' ')} in ${count}`).join(', ');
  const what = figures === '' ? 'nothing moved' : `moved: ${figures}`;
  return `; of ${captures} captures: ${net}, at most ${millions(largestNetChange)} in one; ${what}`;
}

function lineOf({ underlying, session, status, changed, moved, reason }: RecomputedSession): string {
  return `${status.padEnd(10)}  ${session}  ${underlying}  ${reason ?? `${changed} changed${movedText(moved)}`}`;
}

function jsonOf({ moved, ...session }: RecomputedSession): object {
  if (moved === null) return session;
  const { captures, netBefore, netAfter, largestNetChange } = moved;
  return {
    ...session,
    captures,
    net_before: netBefore,
    net_after: netAfter,
    largest_net_change: largestNetChange,
    ...Object.fromEntries(Object.entries(moved.moved).map(([figure, count]) => [`${snakeCase(figure)}_moved`, count])),
  };
}

function resultOf(dataset: RecomputedDataset, sessions: readonly RecomputedSession[]): CommandResult {
  const count = (status: RecomputedSession['status']) => sessions.filter((each) => each.status === status).length;
  const counts = { recomputed: count('recomputed'), unchanged: count('unchanged'), refused: count('refused') };
  return {
    json: { dataset, methodology_version: methodologyVersion, ...counts, sessions: sessions.map(jsonOf) },
    lines: [
      ...sessions.map(lineOf),
      `Methodology ${methodologyVersion}: ${counts.recomputed} sessions recomputed, ${counts.unchanged} unchanged, ${counts.refused} refused`,
    ],
    failed: counts.refused > 0,
  };
}

async function run(
  terminal: Terminal,
  dataset: RecomputedDataset,
  options: RecomputeCommandOptions,
): Promise<CommandResult> {
  const { symbol = null, from = null, to = null, rate = methodologySettings.usualRate, delay = null, all } = options;
  const { recompute } = await import('../../intake/ingest/recompute/recompute.ts');
  const progress = createProgress(terminal.stderr, terminal.now);
  try {
    const sessions = await withStore(terminal, options, (store) =>
      recompute(
        store,
        dataset,
        { symbol, from, to },
        {
          now: terminal.now,
          rate,
          delayMs: delay,
          all: all ?? false,
          signal: terminal.interrupted,
          onProgress: ({ session, underlying }, index, total) =>
            progress.update(`${index + 1}/${total}  ${session} ${underlying}`, index / total),
        },
      ),
    );
    return resultOf(dataset, sessions);
  } finally {
    progress.done();
  }
}

/** `tapegraph recompute`: recomputes stored figures by the current definitions. */
export function addRecomputeCommand(program: Command, terminal: Terminal): void {
  const command = withCommonOptions(program.command('recompute'))
    .summary('recompute stored figures with the current methodology')
    .description(
      'Recomputes stored figures from stored data with the current version of the methodology. Each session of an underlying is ' +
        'one transaction, which notifies streams and caches; the next run resumes one that was stopped. Sealed sessions are rejected.',
    )
    .addArgument(new Argument('<dataset>', 'what to compute; see below').choices(recomputedNames))
    .option('--symbol <ticker>', 'only this underlying', ticker)
    .option('--from <date>', 'from this session on', date)
    .option('--to <date>', 'up to this session, included', date)
    .addOption(rateOption())
    .addOption(
      delayOption('chain: how much older the quotes of the captures are than their times (default: as stored)'),
    )
    .option('--all', 'chain: captures of the current version and the stored inputs too');
  const kinds = recomputedNames.map((name) => `  ${name.padEnd(20)}${recomputedContents[name]}`);
  command.addHelpText('after', `\nDatasets:\n${kinds.join('\n')}`);
  withExamples(command, [
    ['recompute chain', 'all captures computed by an older version or with other inputs'],
    ['recompute chain --symbol SPX --from 2026-11-01 --to 2026-11-20', 'some sessions of one underlying'],
    ['recompute chain --symbol SPX --delay 15m', 'captures of a delayed source that were stored without a delay'],
    ['recompute chain --symbol MRUT', 'after `ingest roots`: with the terms that are stored now'],
    ['recompute flow --json', 'a report for scripts'],
  ]);
  command.action(
    printing(
      terminal,
      () => command.opts(),
      (dataset: RecomputedDataset) => run(terminal, dataset, command.opts<RecomputeCommandOptions>()),
    ),
  );
}
