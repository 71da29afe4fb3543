import { createWriteStream } from 'node:fs';
import { rename, rm } from 'node:fs/promises';
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { Argument, type Command } from 'commander';
import { type Timeframe, timeframes } from '../../../core/domain/market/bar.ts';
import { maxEpochMs } from '../../../core/domain/units.ts';
import { type CommandResult, printing } from '../../io/command-result.ts';
import { type CommonOptions, choice, instant, ticker, withCommonOptions, withExamples } from '../../io/options.ts';
import { createProgress } from '../../io/progress.ts';
import { withStore } from '../../io/store.ts';
import type { Terminal } from '../../io/terminal.ts';
import { exporters, lengthOf } from './exporters.ts';
import { counting, type Format, formats, written } from './formats.ts';

interface ExportOptions extends CommonOptions {
  symbol?: string;
  from?: number;
  to?: number;
  timeframe?: Timeframe;
  format: Format;
  output?: string;
  allowFewer?: boolean;
}

/** Names every dataset, as files of a folder. */
const all = 'all';

// A file gets its name only when it is complete.
async function writeFile(parts: AsyncIterable<string | Uint8Array>, file: string): Promise<void> {
  const draft = `${file}.partial`;
  try {
    await pipeline(Readable.from(parts), createWriteStream(draft));
    await rename(draft, file);
  } catch (error) {
    await rm(draft, { force: true });
    throw error;
  }
}

async function exportRows(terminal: Terminal, dataset: string, options: ExportOptions): Promise<CommandResult> {
  const { symbol = null, format, output = null, from = 0, to = maxEpochMs } = options;
  const exporter = exporters[dataset]!;
  const timeframe = lengthOf(exporter, options.timeframe);
  const counted = { rows: 0 };
  await withStore(terminal, options, async (store) => {
    const rows = counting(exporter.rows(store, { symbol, fromMs: from, toMs: to, timeframe }), counted);
    const parts = written(exporter, rows, format);
    if (output === null) await pipeline(Readable.from(parts), terminal.stdout, { end: false });
    else await writeFile(parts, output);
  });
  return {
    json: { dataset, symbol, format, rows: counted.rows, file: output },
    lines: output === null ? [] : [`${counted.rows} rows written to ${output}`],
  };
}

/** Exports every dataset as the files of a folder. */
async function exportAll(terminal: Terminal, options: ExportOptions): Promise<CommandResult> {
  const { symbol = null, output, from = 0, to = maxEpochMs, allowFewer = false } = options;
  const { exportToFolder } = await import('./export-folder.ts');
  const progress = createProgress(terminal.stderr, terminal.now, (line) => terminal.stderr.write(`${line}\n`));
  try {
    return await withStore(terminal, options, async (store) => {
      return exportToFolder(terminal, store, {
        folder: output!,
        symbol,
        fromMs: from,
        toMs: to,
        allowsFewer: allowFewer,
        onProgress: (label, fraction) => progress.update(label, fraction),
      });
    });
  } finally {
    progress.done();
  }
}

/** The problem of options that depend on each other; null = none. */
function problemOf(dataset: string, { json, output, symbol, timeframe, allowFewer }: ExportOptions, isOther: boolean) {
  if (dataset === all) {
    if (output === undefined) return "required option '--output <folder>' not specified";
    if (timeframe !== undefined) return '--timeframe: the datasets of all have their lengths in their names';
    return isOther ? '--format: expected parquet for all' : null;
  }
  if (allowFewer) return '--allow-fewer: expected for all only';
  const exporter = exporters[dataset]!;
  if (exporter.timeframes?.includes(lengthOf(exporter, timeframe)) === false)
    return `--timeframe: expected ${exporter.timeframes.join(' or ')} for ${dataset}`;
  if (symbol === undefined && !exporter.whole) return "required option '--symbol <symbol>' not specified";
  if (json && output === undefined) return '--json prints a report on stdout: write the rows to a file with --output';
  return null;
}

/** `tapegraph export`: exports stored data in open formats, so that nothing is locked in. */
export function addExportCommand(program: Command, terminal: Terminal): void {
  const command = withCommonOptions(program.command('export'))
    .summary('write stored data as CSV, NDJSON, Arrow or Parquet')
    .description(
      'Writes the stored data of a symbol, oldest first, with the names and units of the API. Unknown values are empty in CSV and null in the other formats. Arrow is an IPC stream; pandas, polars and DuckDB read it, and Parquet. The dataset all writes every dataset of every symbol to a folder, as Parquet files by date and symbol with a manifest; run again, it replaces only files whose content changed.',
    )
    .addArgument(new Argument('<dataset>', 'dataset to export; see below').choices([...Object.keys(exporters), all]))
    .option('--symbol <symbol>', 'ticker, or the underlying of options', ticker)
    .option(
      '--from <time>',
      'start, inclusive: a date, ISO time (New York unless it has an offset) or epoch ms',
      instant,
    )
    .option('--to <time>', 'end, exclusive', instant)
    .addOption(choice('--timeframe <length>', 'length of bars (default: 1m)', timeframes))
    .addOption(choice('--format <format>', 'output format', formats).default('csv'))
    .option('--output <file>', 'write to this file instead of stdout, with all to this folder; required with --json')
    .option('--allow-fewer', 'with all: replace files also by ones with fewer rows');
  const kinds = Object.entries(exporters).map(([name, { describes }]) => `  ${name.padEnd(20)}${describes}`);
  kinds.push(`  ${all.padEnd(20)}all of these for every symbol, as files of a folder`);
  command.addHelpText('after', `\nDatasets:\n${kinds.join('\n')}`);
  withExamples(command, [
    ['export stock-bars --symbol SPY --timeframe 1d', 'daily bars as CSV'],
    ['export stock-bars --symbol SPY --from 2019-02-13 --to 2019-02-14 --format ndjson', 'minute bars of one session'],
    ['export chain --symbol SPX --format arrow > spx.arrows', 'for pandas: pyarrow.ipc.open_stream'],
    ['export gex --symbol SPX --from 2024-01-05', 'dealer gamma from a date on'],
    ['export all --output /archive --from 2026-11-16', 'every dataset as Parquet files, of dates from one on'],
    ['export stock-bars --symbol SPY --output spy.csv --json', 'to a file, with a report for scripts'],
  ]);
  // Options that depend on each other cannot be checked one by one.
  command.hook('preAction', () => {
    const options = command.opts<ExportOptions>();
    const isOther = command.getOptionValueSource('format') === 'cli' && options.format !== 'parquet';
    const problem = problemOf(command.args[0]!, options, isOther);
    if (problem !== null) command.error(`error: ${problem}`);
  });
  command.action(
    printing(
      terminal,
      () => command.opts(),
      (dataset: string) =>
        dataset === all
          ? exportAll(terminal, command.opts<ExportOptions>())
          : exportRows(terminal, dataset, command.opts<ExportOptions>()),
    ),
  );
}
