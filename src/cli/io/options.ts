import { availableParallelism } from 'node:os';
import { type Command, InvalidArgumentError, Option } from 'commander';
import { longestDelayMs } from '../../core/domain/chain/chain.ts';
import { readTicker } from '../../core/domain/market/ticker.ts';
import { exchangeTimeZone, isDate, parseInstant } from '../../core/domain/market-time.ts';
import { type Config, type ConfigOverrides, readConfig } from '../../platform/config/config.ts';
import type { Clock } from '../../platform/runtime/clock.ts';
import { InvalidValue } from '../../platform/runtime/invalid-value.ts';
import type { Terminal } from './terminal.ts';

/** Options of every command. */
export interface CommonOptions {
  json?: boolean;
  data?: string;
}

/** Adds `--json` and `--data` to `command`. */
export function withCommonOptions(command: Command): Command {
  return command
    .option('--json', 'print one JSON object on stdout, and nothing else')
    .option('--data <folder>', 'folder of the embedded store and sample files (setting TAPEGRAPH_DATA)');
}

/** Adds examples to the help of `command`, each a command line without the program's name and its effect. */
export function withExamples(command: Command, examples: readonly (readonly [line: string, what: string])[]): Command {
  const lines = examples.map(([line, what]) => `  # ${what}\n  $ tapegraph ${line}`);
  return command.addHelpText('after', `\nExamples:\n${lines.join('\n')}`);
}

/** The settings for a command: its options over the environment. */
export function configOf(terminal: Terminal, options: CommonOptions & Omit<ConfigOverrides, 'dataDir'>): Config {
  const { data: dataDir, port, host, workers, routes } = options;
  return readConfig(terminal.env, { dataDir, port, host, workers, routes });
}

/** A whole number from `min` to `max`. */
export function wholeNumber(min: number, max: number) {
  return (text: string): number => {
    const value = Number(text);
    if (!/^\d+$/.test(text) || value < min || value > max)
      throw new InvalidArgumentError(`Expected a whole number from ${min} to ${max}.`);
    return value;
  };
}

/** A number from `min` to `max`. */
function number(min: number, max: number) {
  return (text: string): number => {
    const value = Number(text);
    if (!/^[-+]?(\d+\.?\d*|\.\d+)$/.test(text) || value < min || value > max)
      throw new InvalidArgumentError(`Expected a number from ${min} to ${max}.`);
    return value;
  };
}

/** Parses an instant as epoch ms: ISO 8601, a date, or epoch ms digits; without an offset it is New York time. */
export function instant(text: string): number {
  try {
    return parseInstant(text, exchangeTimeZone, 'time').ms;
  } catch (error) {
    if (!(error instanceof InvalidValue)) throw error;
    throw new InvalidArgumentError('Expected a time such as 2026-11-20T14:30:00Z or 2026-11-20T09:30 (New York).');
  }
}

/** A session date YYYY-MM-DD. */
export function date(text: string): string {
  if (!isDate(text)) throw new InvalidArgumentError('Expected a date such as 2026-11-20.');
  return text;
}

/** A ticker, upper-cased. */
export function ticker(text: string): string {
  const symbol = readTicker(text);
  if (symbol === null) throw new InvalidArgumentError('Expected a ticker such as SPY or BRK.B.');
  return symbol;
}

/** Tickers separated by commas, upper-cased. */
export function tickers(text: string): string[] {
  const symbols = text.split(',').map((part) => ticker(part.trim()));
  if (new Set(symbols).size < symbols.length) throw new InvalidArgumentError('A ticker is listed twice.');
  return symbols;
}

const durationMs: Record<string, number> = { s: 1000, m: 60_000, h: 3_600_000, d: 86_400_000 };

/** Parses a duration, ms, such as 90s, 30m, 1h or 7d. */
export function duration(text: string): number {
  const match = /^(\d{1,9})([smhd])$/.exec(text);
  if (!match || Number(match[1]) === 0)
    throw new InvalidArgumentError('Expected a duration such as 90s, 30m, 1h or 7d.');
  return Number(match[1]) * durationMs[match[2]!]!;
}

/** Delay of a source's quotes, ms: a duration of at most a day, or 0. */
function delay(text: string): number {
  const delayMs = /^0[smhd]?$/.test(text) ? 0 : duration(text);
  if (delayMs > longestDelayMs) throw new InvalidArgumentError('Expected a delay of at most 1d.');
  return delayMs;
}

/** The option for the delay of a source's quotes, of every command that stores chains. */
export function delayOption(description: string): Option {
  return new Option('--delay <time>', description).argParser(delay);
}

/** An option that takes one of `values`. */
export function choice(flags: string, description: string, values: readonly string[]): Option {
  return new Option(flags, description).choices(values);
}

/** The option for the interest rate with which volatilities are solved, of every command that solves. */
export function rateOption(): Option {
  return new Option(
    '--rate <fraction>',
    'continuous annual interest rate for solving, without rates or US bills of the date (default: 0.045)',
  ).argParser(number(-0.5, 1));
}

/** The option for the number of contracts per underlying whose volatility is solved every minute. */
export function solveMostOption(): Option {
  return new Option(
    '--solve-most <n>',
    'contracts per underlying that are solved every minute: the first to trade in the session; 0 = none (default: 10000)',
  ).argParser(wholeNumber(0, 1_000_000));
}

/** Default maximum number of threads for a tape. */
const usualThreads = 4;

/** `--threads` of the commands that read option tapes. */
export function threadsOption(): Option {
  return new Option(
    '--threads <n>',
    'threads that read an option tape and compute its sessions; 1 = only the main thread',
  )
    .argParser(wholeNumber(1, 64))
    .default(Math.min(availableParallelism(), usualThreads), `processors, at most ${usualThreads}`);
}

/** A clock that reads `startMs` now and advances with `now`. */
export function clockFrom(startMs: number, now: Clock): Clock {
  const offset = startMs - now();
  return () => now() + offset;
}
