import { basename } from 'node:path';
import { Argument, type Command } from 'commander';
import { type Dataset, datasetContents, datasetNames } from '../../core/domain/dataset.ts';
import { type GammaSource, gammaSources } from '../../core/domain/gex/gex.ts';
import { changeLine, leftLine, outdatedLine } from '../../intake/ingest/files/tape-report.ts';
import type { FileReport } from '../../intake/ingest/ingest.ts';
import { type CommandResult, printing } from '../io/command-result.ts';
import {
  type CommonOptions,
  choice,
  configOf,
  date,
  delayOption,
  rateOption,
  solveMostOption,
  threadsOption,
  tickers,
  wholeNumber,
  withCommonOptions,
  withExamples,
} from '../io/options.ts';
import { createProgress } from '../io/progress.ts';
import { withStore } from '../io/store.ts';
import type { Terminal } from '../io/terminal.ts';

interface IngestCommandOptions extends CommonOptions {
  maxErrors?: number;
  force?: boolean;
  gammaSource?: GammaSource;
  rate?: number;
  delay?: number;
  solveMost?: number;
  threads: number;
  session?: string;
  quotes?: string[];
  allowHttp?: boolean;
  replace?: boolean;
  symbols?: string[];
}

/** Maximum number of sessions of a file that the text lists: a file of day bars may have those of years. */
const listedSessions = 100;

/** The first of some lines, and the number of the others. */
function firstLines(lines: readonly string[], what: string): string[] {
  const more = lines.length - listedSessions;
  return [...lines.slice(0, listedSessions), ...(more > 0 ? [`and ${more} more ${what}`] : [])];
}

function linesOf(report: FileReport): string[] {
  const { file, status, rows, changed, badLines, badLineCount, notes, reason, sessions, left, outdated } = report;
  const counts = { stored: `${rows} rows, ${changed} changed`, unchanged: `${rows} rows`, refused: null }[status];
  const what = [counts, reason].filter((part) => part !== null);
  const unlisted = badLineCount - badLines.length;
  return [
    `${status.padEnd(9)}  ${file}  ${what.join('; ')}`,
    ...firstLines(sessions.map(changeLine), 'sessions').map((line) => `           ${line}`),
    // The reason of a rejected file is shown instead.
    ...left.slice(status === 'refused' ? 1 : 0).map((each) => `           ${leftLine(each)}`),
    ...badLines.map((bad) => `           ${basename(bad.file)}:${bad.line}  ${bad.reason}`),
    ...outdated.map((each) => `           ${outdatedLine(each)}`),
    ...notes.map((note) => `           note: ${note}`),
    ...(unlisted > 0 ? [`           and ${unlisted} more`] : []),
  ];
}

function jsonOf({ badLines, badLineCount, left, ...report }: FileReport): object {
  const notStored = left.map(({ storedFrom, ...each }) => ({ ...each, stored_from: storedFrom }));
  return { ...report, not_stored: notStored, bad_line_count: badLineCount, bad_lines: badLines };
}

/** Result of an ingest. A rejected file fails the command after the other files were stored. */
function resultOf(dataset: Dataset, files: readonly FileReport[]): CommandResult {
  const count = (status: FileReport['status']) => files.filter((file) => file.status === status).length;
  const counts = { stored: count('stored'), unchanged: count('unchanged'), refused: count('refused') };
  const nothingNew = counts.unchanged === files.length ? 'Nothing changed: ' : '';
  return {
    json: { dataset, ...counts, files: files.map(jsonOf) },
    lines: [
      ...files.flatMap(linesOf),
      `${nothingNew}${counts.stored} stored, ${counts.unchanged} unchanged, ${counts.refused} refused`,
    ],
    failed: counts.refused > 0,
  };
}

async function ingest(
  terminal: Terminal,
  dataset: Dataset,
  files: string[],
  options: IngestCommandOptions,
): Promise<CommandResult> {
  const { maxErrors, force, gammaSource, rate, delay, solveMost, threads, session, quotes, symbols } = options;
  const settings = {
    now: terminal.now,
    signal: terminal.interrupted,
    remote: { env: terminal.env, allowHttp: options.allowHttp ?? false },
    threads,
    extendedBars: configOf(terminal, options).extendedBars,
    ...(maxErrors !== undefined && { maxErrors }),
    ...(force && { force }),
    ...(options.replace && { replace: true }),
    ...(gammaSource !== undefined && { gammaSource }),
    ...(rate !== undefined && { rate }),
    ...(delay !== undefined && { delayMs: delay }),
    ...(symbols !== undefined && { symbols }),
    ...(solveMost !== undefined && { solveMost }),
    ...(session !== undefined && { sessionDate: session }),
    ...(quotes !== undefined && { quoteFiles: quotes }),
  };
  const progress = createProgress(terminal.stderr, terminal.now);
  try {
    const [{ ingestFiles }, { ensureStarterRegistry }] = await Promise.all([
      import('../../intake/ingest/ingest.ts'),
      import('../../intake/ingest/files/lists/starter-registry.ts'),
    ]);
    const report = await withStore(terminal, options, async (store, { keepRemainderDays: keepDays }) => {
      // Without it every ticker of the files would be in the directory only, and none in the registry.
      if (dataset !== 'symbols') await ensureStarterRegistry(store, terminal.now);
      return ingestFiles(
        store,
        dataset,
        files,
        { ...settings, keepDays },
        ({ file, fileIndex, fileCount, bytesRead, bytesTotal }) =>
          progress.update(
            `${fileIndex + 1}/${fileCount}  ${basename(file)}`,
            bytesTotal === 0 ? null : bytesRead / bytesTotal,
          ),
      );
    });
    return resultOf(dataset, report.files);
  } finally {
    progress.done();
  }
}

const examples: Parameters<typeof withExamples>[1] = [
  ["ingest stock-minute-bars 'vendor/minute/*.csv.gz'", 'all matching files'],
  ['ingest chain strikes_2026-11-20.csv.zst --symbols SPY,QQQ', 'two chains of a vendor’s file of all underlyings'],
  ['ingest chain spx_20240107.csv.gz --gamma-source vendor', 'a chain, with dealer gamma from the vendor’s gammas'],
  [
    "ingest stock-minute-bars 's3://lake/bars/2026-11-20/*.parquet'",
    'objects of a bucket, in the order of their names',
  ],
  ["ingest option-quotes 'quotes/2026-11-20*.csv.gz'", 'quotes of a session, before its tape'],
  [
    'ingest option-trades trades.csv.gz --quotes quotes.csv.gz',
    'an option tape, with sides from quotes that are not stored',
  ],
  ['ingest stock-day-bars day.csv --max-errors 5 --json', 'skip up to five bad lines; a report for scripts'],
];

/** The part of the help that lists the datasets. */
function datasetsText(): string {
  const kinds = datasetNames.map((name) => `  ${name.padEnd(20)}${datasetContents[name]}`);
  return `\nDatasets:\n${kinds.join('\n')}`;
}

/** Adds the options of chains. */
function addChainOptions(command: Command): void {
  command
    .addOption(
      choice(
        '--gamma-source <source>',
        'gammas of a GEX capture: solved from quotes, or the vendor’s (default: solve)',
        gammaSources,
      ),
    )
    .addOption(
      delayOption('how much older the quotes of a chain are than its time; 0 = not (default: as its format says)'),
    )
    .option('--symbols <list>', 'only the chains of these underlyings, separated by commas (default: all)', tickers);
}

/** `tapegraph ingest`: stores vendor files, each whole or not at all. */
export function addIngestCommand(program: Command, terminal: Terminal): void {
  const command = withCommonOptions(program.command('ingest'))
    .summary('read vendor files into the store')
    .description(
      'Reads vendor files into the store: CSV, plain, gzip or Zstandard; Parquet; files and pages of Databento, Massive, ORATS, ThetaData, Tradier and yfinance. Files are given by name, ' +
        'pattern or URL: s3:// with the AWS_* environment variables, https://. A file is stored completely or not at all. ' +
        'If the stored data is already that of the file, it is reported as unchanged; if other data replaced it, the file is stored again.',
    )
    .addArgument(new Argument('<dataset>', 'dataset of the files; see below').choices(datasetNames))
    .argument(
      '<file...>',
      "files, or patterns in quotes such as 'bars/*.csv.gz'; s3://bucket/key, s3://bucket/prefix/, 's3://bucket/day/*.parquet', https://…",
    )
    .option(
      '--max-errors <n>',
      'maximum number of bad lines; a file with more is rejected (default: 0)',
      wholeNumber(0, 1_000_000_000),
    )
    .option('--force', 'read and compute unchanged files too')
    .option('--replace', 'replace what is stored of the sessions of a file, also if it has more prints, bars or quotes')
    .addOption(rateOption())
    .addOption(solveMostOption())
    .addOption(threadsOption())
    .option('--session <date>', 'session of files that do not contain one', date)
    .option(
      '--quotes <file...>',
      'option quotes for option-trades files, used for trade sides instead of the stored ones',
    )
    .option('--allow-http', 'allow unencrypted http:// URLs of other machines');
  addChainOptions(command);
  command.addHelpText('after', datasetsText());
  withExamples(command, examples);
  command.action(
    printing(
      terminal,
      () => command.opts(),
      (dataset: Dataset, files: string[]) => {
        const options = command.opts<IngestCommandOptions>();
        if (options.symbols && dataset !== 'chain') command.error('error: --symbols requires the dataset chain');
        return ingest(terminal, dataset, files, options);
      },
    ),
  );
}
