import { createWriteStream } from 'node:fs';
import { rename, rm } from 'node:fs/promises';
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { Argument, type Command } from 'commander';
import { type Timeframe, timeframes } from '../../../domain/market/bar.ts';
import { maxEpochMs } from '../../../domain/units.ts';
import type { Cell } from '../../../rest/contract/table.ts';
import type { Store } from '../../../store/rows/connection.ts';
import { csvLine } from '../../../wire/csv-lines.ts';
import { type CommandResult, printing } from '../../io/command-result.ts';
import { type CommonOptions, choice, instant, ticker, withCommonOptions, withExamples } from '../../io/options.ts';
import { withStore } from '../../io/store.ts';
import type { Terminal } from '../../io/terminal.ts';
import { chain, gex } from './export-captures.ts';
import { dividends } from './export-dividends.ts';
import { gexInputs } from './export-gex-inputs.ts';
import { optionBars } from './export-option-bars.ts';
import { rates } from './export-rates.ts';
import { roots } from './export-roots.ts';
import { splits } from './export-splits.ts';
import { stockBars } from './export-stock-bars.ts';
import { symbols } from './export-symbols.ts';
import { volatilityDays } from './export-volatility-days.ts';
import type { Exporter, ExportRow } from './exporter.ts';

/** An exporter of bars of one length, under the name of the files that `ingest` reads. */
function ofLength(exporter: Exporter, timeframe: Timeframe, describes: string): Exporter {
  return { ...exporter, timeframes: [timeframe], describes };
}

/** Exporters, by the name used on the command line. */
const exporters: Record<string, Exporter> = {
  symbols,
  roots,
  splits,
  dividends,
  rates,
  'volatility-days': volatilityDays,
  'stock-bars': stockBars,
  'stock-minute-bars': ofLength(stockBars, '1m', 'stock-bars --timeframe 1m, under the name used by ingest'),
  'stock-day-bars': ofLength(stockBars, '1d', 'stock-bars --timeframe 1d, under the name used by ingest'),
  'option-bars': optionBars,
  'option-minute-bars': ofLength(optionBars, '1m', 'option-bars --timeframe 1m, under the name used by ingest'),
  chain,
  gex,
  'gex-inputs': gexInputs,
};

/** The length of bars to export: the requested one, else the only one there is, else 1m. */
function lengthOf({ timeframes: lengths }: Exporter, asked: Timeframe | undefined): Timeframe {
  return asked ?? lengths?.[0] ?? '1m';
}

const formats = ['csv', 'ndjson', 'arrow'] as const;
type Format = (typeof formats)[number];

interface ExportOptions extends CommonOptions {
  symbol?: string;
  from?: number;
  to?: number;
  timeframe?: Timeframe;
  format: Format;
  output?: string;
}

/** The lines of an export. CSV has a header even if it is empty. */
async function* linesOf(
  { columns }: Exporter,
  rows: AsyncIterable<ExportRow>,
  format: 'csv' | 'ndjson',
): AsyncIterable<string> {
  const names = Object.keys(columns);
  if (format === 'csv') yield `${csvLine(names)}\n`;
  for await (const row of rows)
    yield `${format === 'csv' ? csvLine(names.map((name) => row[name])) : JSON.stringify(row)}\n`;
}

/** Rows per batch of an Arrow stream. */
const rowsABatch = 20_000;

async function* batches(names: readonly string[], rows: AsyncIterable<ExportRow>): AsyncIterable<Cell[][]> {
  let batch: Cell[][] = [];
  for await (const row of rows) {
    batch.push(names.map((name) => row[name] ?? null));
    if (batch.length < rowsABatch) continue;
    yield batch;
    batch = [];
  }
  if (batch.length > 0) yield batch;
}

/** An Arrow IPC stream, which pandas, polars and DuckDB read directly. */
async function* arrowOf({ columns }: Exporter, rows: AsyncIterable<ExportRow>): AsyncIterable<Uint8Array> {
  const { arrowStream } = await import('../../../rest/contract/arrow-stream.ts');
  const typed = Object.entries(columns).map(([name, type]) => ({ name, type, nullable: true }));
  yield* arrowStream(typed, batches(Object.keys(columns), rows), {});
}

async function* counting(rows: AsyncIterable<ExportRow>, counted: { rows: number }): AsyncIterable<ExportRow> {
  for await (const row of rows) {
    counted.rows++;
    yield row;
  }
}

// A file gets its name only when it is complete.
async function writeFile(written: AsyncIterable<string | Uint8Array>, file: string): Promise<void> {
  const draft = `${file}.partial`;
  try {
    await pipeline(Readable.from(written), createWriteStream(draft));
    await rename(draft, file);
  } catch (error) {
    await rm(draft, { force: true });
    throw error;
  }
}

/** The note on simulated data in the export. */
async function simulatedIn(store: Store, symbol: string | null): Promise<string | null> {
  const [{ symbolRegistry }, { simulatedNote }] = await Promise.all([
    import('../../../store/market/symbols.ts'),
    import('../../../store/market/simulated-note.ts'),
  ]);
  await symbolRegistry(store);
  return simulatedNote(store, [symbol]);
}

async function exportRows(terminal: Terminal, dataset: string, options: ExportOptions): Promise<CommandResult> {
  const { symbol = null, format, output = null, from = 0, to = maxEpochMs } = options;
  const exporter = exporters[dataset]!;
  const timeframe = lengthOf(exporter, options.timeframe);
  const counted = { rows: 0 };
  await withStore(terminal, options, async (store) => {
    const rows = counting(exporter.rows(store, { symbol, fromMs: from, toMs: to, timeframe }), counted);
    const written = format === 'arrow' ? arrowOf(exporter, rows) : linesOf(exporter, rows, format);
    const note = await simulatedIn(store, symbol);
    if (note !== null) terminal.stderr.write(`${note}\n`);
    if (output === null) await pipeline(Readable.from(written), terminal.stdout, { end: false });
    else await writeFile(written, output);
  });
  return {
    json: { dataset, symbol, format, rows: counted.rows, file: output },
    lines: output === null ? [] : [`${counted.rows} rows written to ${output}`],
  };
}

/** `tapegraph export`: exports stored data as CSV, NDJSON or an Arrow stream, so that nothing is locked in. */
export function addExportCommand(program: Command, terminal: Terminal): void {
  const command = withCommonOptions(program.command('export'))
    .summary('write stored data as CSV, NDJSON or Arrow')
    .description(
      'Writes the stored data of a symbol, oldest first, with the names and units of the API. Unknown values are empty in CSV and null in NDJSON and Arrow. Arrow is an IPC stream, which pandas, polars and DuckDB read.',
    )
    .addArgument(new Argument('<dataset>', 'dataset to export; see below').choices(Object.keys(exporters)))
    .option('--symbol <symbol>', 'ticker, or the underlying of options', ticker)
    .option(
      '--from <time>',
      'start, inclusive: a date, ISO time (New York unless it has an offset) or epoch ms',
      instant,
    )
    .option('--to <time>', 'end, exclusive', instant)
    .addOption(choice('--timeframe <length>', 'length of bars (default: 1m)', timeframes))
    .addOption(choice('--format <format>', 'output format', formats).default('csv'))
    .option('--output <file>', 'write to this file instead of stdout; required with --json');
  const kinds = Object.entries(exporters).map(([name, { describes }]) => `  ${name.padEnd(20)}${describes}`);
  command.addHelpText('after', `\nDatasets:\n${kinds.join('\n')}`);
  withExamples(command, [
    ['export stock-bars --symbol SPY --timeframe 1d', 'daily bars as CSV'],
    ['export stock-bars --symbol SPY --from 2019-02-13 --to 2019-02-14 --format ndjson', 'minute bars of one session'],
    ['export chain --symbol SPX --format arrow > spx.arrows', 'for pandas: pyarrow.ipc.open_stream'],
    ['export gex --symbol SPX --from 2024-01-05', 'dealer gamma from a date on'],
    ['export stock-bars --symbol SPY --output spy.csv --json', 'to a file, with a report for scripts'],
  ]);
  // Options that depend on each other cannot be checked one by one.
  command.hook('preAction', () => {
    const { json, output, symbol, timeframe } = command.opts<ExportOptions>();
    const exporter = exporters[command.args[0]!]!;
    if (exporter.timeframes?.includes(lengthOf(exporter, timeframe)) === false)
      command.error(`error: --timeframe: expected ${exporter.timeframes.join(' or ')} for ${command.args[0]}`);
    if (symbol === undefined && !exporter.whole)
      command.error("error: required option '--symbol <symbol>' not specified");
    if (json && output === undefined)
      command.error('error: --json prints a report on stdout: write the rows to a file with --output');
  });
  command.action(
    printing(
      terminal,
      () => command.opts(),
      (dataset: string) => exportRows(terminal, dataset, command.opts<ExportOptions>()),
    ),
  );
}
