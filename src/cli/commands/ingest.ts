import { basename } from 'node:path';
import { Argument, type Command } from 'commander';
import { type GammaSource, gammaSources } from '../../domain/gex.ts';
import { type Dataset, datasetContents, datasetNames } from '../../ingest/dataset-names.ts';
import type { FileReport } from '../../ingest/ingest.ts';
import { type CommandResult, printing } from '../io/command-result.ts';
import {
  type CommonOptions,
  choice,
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

interface IngestCommandOptions extends CommonOptions {
  maxErrors?: number;
  force?: boolean;
  gammaSource?: GammaSource;
  rate?: number;
  solveMost?: number;
  threads: number;
  session?: string;
  quotes?: string[];
  allowHttp?: boolean;
}

function linesOf(report: FileReport): string[] {
  const { file, status, rows, changed, badLines, badLineCount, notes, reason } = report;
  const counts = { stored: `${rows} rows, ${changed} changed`, unchanged: `${rows} rows`, refused: null }[status];
  const what = [counts, reason].filter((part) => part !== null);
  const unlisted = badLineCount - badLines.length;
  return [
    `${status.padEnd(9)}  ${file}  ${what.join('; ')}`,
    ...badLines.map((bad) => `           ${basename(bad.file)}:${bad.line}  ${bad.reason}`),
    ...notes.map((note) => `           note: ${note}`),
    ...(unlisted > 0 ? [`           and ${unlisted} more`] : []),
  ];
}

function jsonOf({ file, status, rows, changed, badLines, badLineCount, notes, reason }: FileReport): object {
  return { file, status, rows, changed, reason, bad_line_count: badLineCount, bad_lines: badLines, notes };
}

/** What an ingest came to: a file that was refused fails the command, after the others were stored. */
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
  const { maxErrors, force, gammaSource, rate, solveMost, threads, session, quotes, allowHttp = false } = options;
  const settings = {
    now: terminal.now,
    signal: terminal.interrupted,
    remote: { env: terminal.env, allowHttp },
    threads,
    ...(maxErrors !== undefined && { maxErrors }),
    ...(force && { force }),
    ...(gammaSource !== undefined && { gammaSource }),
    ...(rate !== undefined && { rate }),
    ...(solveMost !== undefined && { solveMost }),
    ...(session !== undefined && { sessionDate: session }),
    ...(quotes !== undefined && { quoteFiles: quotes }),
  };
  const progress = createProgress(terminal.stderr, terminal.now);
  try {
    const [{ ingestFiles }, { ensureStarterRegistry }] = await Promise.all([
      import('../../ingest/ingest.ts'),
      import('../../ingest/files/starter-registry.ts'),
    ]);
    const report = await withStore(terminal, options, async (store) => {
      // Without it every ticker of the files would be in the directory alone, and nothing of it in the registry.
      if (dataset !== 'symbols') await ensureStarterRegistry(store, terminal.now);
      return ingestFiles(store, dataset, files, settings, ({ file, fileIndex, fileCount, bytesRead, bytesTotal }) =>
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

/** `tapegraph ingest`: vendor files into the store, each whole or not at all. */
export function addIngestCommand(program: Command, terminal: Terminal): void {
  const command = withCommonOptions(program.command('ingest'))
    .summary('read vendor files into the store')
    .description(
      'Reads vendor files into the store: CSV, plain, gzip or Zstandard; Parquet; chains also as JSON. Files are given by name, ' +
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
    .addOption(
      choice(
        '--gamma-source <source>',
        'gammas of a GEX capture: solved from quotes, or the vendor’s (default: solve)',
        gammaSources,
      ),
    )
    .addOption(rateOption())
    .addOption(solveMostOption())
    .addOption(threadsOption())
    .option('--session <date>', 'session of files that do not contain one', date)
    .option(
      '--quotes <file...>',
      'option quotes for option-trades files, used for trade sides instead of the stored ones',
    )
    .option('--allow-http', 'allow unencrypted http:// URLs of other machines');
  const kinds = datasetNames.map((name) => `  ${name.padEnd(20)}${datasetContents[name]}`);
  command.addHelpText('after', `\nDatasets:\n${kinds.join('\n')}`);
  withExamples(command, examples);
  command.action(
    printing(
      terminal,
      () => command.opts(),
      (dataset: Dataset, files: string[]) => ingest(terminal, dataset, files, command.opts<IngestCommandOptions>()),
    ),
  );
}
