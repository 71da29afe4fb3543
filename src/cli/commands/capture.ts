import { setTimeout as delay } from 'node:timers/promises';
import { type Command, InvalidArgumentError } from 'commander';
import { type GammaSource, gammaSources } from '../../core/domain/gex/gex.ts';
import type {
  CaptureCounts,
  CaptureReport,
  CaptureSettings,
  CaptureWorld,
} from '../../intake/ingest/chains/capture-chains.ts';
import type { ChainSource } from '../../intake/ingest/chains/chain-source.ts';
import { minuteMs } from '../../platform/runtime/clock.ts';
import { type CommandResult, printing, table } from '../io/command-result.ts';
import {
  type CommonOptions,
  choice,
  configOf,
  delayOption,
  duration,
  rateOption,
  ticker,
  wholeNumber,
  withCommonOptions,
  withExamples,
} from '../io/options.ts';
import type { Terminal } from '../io/terminal.ts';

/** A ticker, and its name at the source. */
interface NamedSymbol {
  symbol: string;
  name: string;
}

interface CaptureOptions extends CommonOptions {
  symbols: NamedSymbol[];
  url: string;
  every?: number;
  delay?: number;
  always?: boolean;
  once?: boolean;
  timeout?: number;
  maxSize?: number;
  gammaSource?: GammaSource;
  rate?: number;
}

/** Parses `SPX=_SPX,AAPL`: tickers, each with the source's name for it if that differs. */
function namedSymbols(text: string): NamedSymbol[] {
  const symbols = text.split(',').map((part) => {
    const [, left, right] = /^\s*([^=\s]+?)\s*(?:=\s*([^=\s]+)\s*)?$/.exec(part) ?? [];
    if (left === undefined)
      throw new InvalidArgumentError('Expected tickers separated by commas, such as SPX=_SPX,AAPL.');
    const symbol = ticker(left);
    return { symbol, name: right ?? symbol };
  });
  const twice = symbols.find(({ symbol }, i) => symbols.findIndex((other) => other.symbol === symbol) < i);
  if (twice) throw new InvalidArgumentError(`${twice.symbol} is listed twice.`);
  return symbols;
}

const placeholder = '{symbol}';

function urlTemplate(text: string): string {
  const url = URL.parse(text.replaceAll(placeholder, 'X'));
  if (!text.includes(placeholder) || !url || !['http:', 'https:'].includes(url.protocol))
    throw new InvalidArgumentError(`Expected an http or https URL with ${placeholder} in it.`);
  return text;
}

function sourcesOf({ symbols, url }: CaptureOptions): ChainSource[] {
  return symbols.map(({ symbol, name }) => ({ symbol, url: url.replaceAll(placeholder, encodeURIComponent(name)) }));
}

function settingsOf(options: CaptureOptions): CaptureSettings {
  return {
    everyMs: options.every ?? 5 * minuteMs,
    delayMs: options.delay ?? 0,
    ...(options.delay !== undefined && { sourceDelayMs: options.delay }),
    always: options.always ?? false,
    timeoutMs: options.timeout ?? 30_000,
    maxBytes: (options.maxSize ?? 64) * 1024 * 1024,
    gammaSource: options.gammaSource ?? 'solve',
    rate: options.rate ?? 0.045,
    atOnce: 4,
  };
}

function resultOf(report: CaptureReport, once: boolean): CommandResult {
  const count = ({ captured, unchanged, failed }: CaptureCounts) => [captured, unchanged, failed].map(String);
  return {
    json: { symbols: report },
    lines: table(
      ['symbol', 'captured', 'unchanged', 'failed'],
      Object.entries(report).map(([symbol, counts]) => [symbol, ...count(counts)]),
    ),
    failed: once && Object.values(report).some(({ failed }) => failed > 0),
  };
}

async function capture(terminal: Terminal, options: CaptureOptions): Promise<CommandResult> {
  const config = configOf(terminal, options);
  // Loaded lazily, so that help and usage errors are fast.
  const [{ lineLog, logOf }, { openCurrentStore }, { ensureStarterRegistry }, { captureChains, captureChainsOnce }] =
    await Promise.all([
      import('../line-log.ts'),
      import('../../store/current-store.ts'),
      import('../../intake/ingest/files/lists/starter-registry.ts'),
      import('../../intake/ingest/chains/capture-chains.ts'),
    ]);
  const log = logOf(config, terminal.stderr);
  const world: CaptureWorld = {
    now: terminal.now,
    stop: terminal.interrupted,
    random: Math.random,
    sleep: (ms, signal) => delay(ms, undefined, { signal }).catch(() => {}),
    log,
  };
  // Awaited when the process is asked to end: the current capture is stored, then the store is closed.
  const { databaseUrl, dataDir, keepSupersededMs } = config;
  const store = await openCurrentStore({
    databaseUrl,
    dataDir,
    keepSupersededMs,
    log: lineLog(log, 'debug'),
    stop: terminal.interrupted,
  });
  try {
    await ensureStarterRegistry(store, terminal.now);
    const run = options.once ? captureChainsOnce : captureChains;
    return resultOf(await run(store, sourcesOf(options), settingsOf(options), world), options.once ?? false);
  } finally {
    await store.close();
  }
}

const examples: [string, string][] = [
  [
    'capture chains --symbols SPX=_SPX,AAPL --every 5m --delay 15m --url https://quotes.example.com/options/{symbol}.json',
    'all day',
  ],
  [
    'capture chains --symbols AAPL --once --url https://quotes.example.com/options/{symbol}.json --json',
    'once, from cron',
  ],
];

function addChainsCommand(parent: Command, terminal: Terminal): void {
  const command = withCommonOptions(parent.command('chains'))
    .summary('capture option chains from a delayed-quote source')
    .description(
      'Fetches option chains (delayed-quote JSON) from an HTTP source while the market is open, until stopped ' +
        '(Ctrl-C, SIGTERM). Each chain is stored with its GEX capture, as by `ingest chain`. A symbol that fails is retried with ' +
        'increasing pauses; the other symbols continue. Progress is logged on stderr.',
    )
    .requiredOption(
      '--symbols <list>',
      'tickers separated by commas; add the source’s name if it differs: SPX=_SPX,AAPL',
      namedSymbols,
    )
    .requiredOption(
      '--url <template>',
      `URL of a chain; ${placeholder} stands for the source’s name of the symbol`,
      urlTemplate,
    )
    .option('--every <time>', 'time between captures; the first is at the open (default: 5m)', duration)
    .addOption(
      delayOption(
        'delay of the source’s quotes, 0 = none: stored with each chain, and market hours are shifted by it (default: as the format says, 15m, and no shift)',
      ),
    )
    .option('--always', 'capture outside market hours too')
    .option('--once', 'capture each symbol once, now, at any hour; exit code 1 if one fails')
    .option('--timeout <time>', 'timeout for the whole answer (default: 30s)', duration)
    .option('--max-size <MiB>', 'maximum size of an answer, uncompressed (default: 64)', wholeNumber(1, 256))
    .addOption(
      choice('--gamma-source <source>', 'gammas: solved from quotes, or the source’s (default: solve)', gammaSources),
    )
    .addOption(rateOption());
  withExamples(command, examples);
  command.action(
    printing(
      terminal,
      () => command.opts(),
      () => capture(terminal, command.opts<CaptureOptions>()),
    ),
  );
}

/** `tapegraph capture`: fetches market data from a source until stopped. */
export function addCaptureCommands(program: Command, terminal: Terminal): void {
  const command = program.command('capture').description('capture market data from a source until stopped');
  addChainsCommand(command, terminal);
}
