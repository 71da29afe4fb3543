import { Readable } from 'node:stream';
import type { Command } from 'commander';
import type { Logger } from 'pino';
import { type GammaSource, gammaSources } from '../../core/domain/gex/gex.ts';
import type { FollowReport } from '../../intake/ingest/tail/follow.ts';
import type { TapePlaces } from '../../intake/ingest/tail/follower.ts';
import { liveCommitEveryMs } from '../../intake/ingest/tail/live-session.ts';
import type { BadLine } from '../../intake/tape/csv/tape-file.ts';
import type { Config } from '../../platform/config/config.ts';
import type { FollowMetrics } from '../../platform/observe/follow-metrics.ts';
import type { Clock } from '../../platform/runtime/clock.ts';
import type { Store } from '../../store/rows/connection.ts';
import { type CommandResult, printing } from '../io/command-result.ts';
import {
  type CommonOptions,
  choice,
  configOf,
  rateOption,
  solveMostOption,
  wholeNumber,
  withCommonOptions,
  withExamples,
} from '../io/options.ts';
import type { Terminal } from '../io/terminal.ts';

interface FollowCommandOptions extends CommonOptions {
  source?: string;
  fromStart?: boolean;
  stream?: string;
  group?: string;
  gammaSource?: GammaSource;
  rate?: number;
  solveMost?: number;
  metricsPort?: number;
}

function resultOf({ lines, throughLine, badLines, late, duplicates, commits }: FollowReport): CommandResult {
  const counts = [`${badLines} bad`, `${late} late`, `${duplicates} duplicates`];
  return {
    json: { lines, through_line: throughLine, bad_lines: badLines, late, duplicates, commits },
    lines: [`${lines} lines read, ${throughLine} in total; ${counts.join(', ')}; ${commits} commits`],
  };
}

/** Creates a function that counts a late record in the metrics, and logs the first of each session. */
function lateLog(log: Logger, count: () => void): (session: string) => void {
  const logged = new Set<string>();
  return (session) => {
    count();
    if (logged.has(session)) return;
    logged.add(session);
    log.warn({ session }, 'records came after their session ended and are not stored: ingest the tape of the session');
  };
}

async function tapeOf(terminal: Terminal, config: Config, options: FollowCommandOptions, log: Logger): Promise<Tape> {
  const { stream, group = 'tapegraph' } = options;
  if (stream === undefined) {
    const stdin = terminal.stdin?.() ?? Readable.from([]);
    // After the signal to stop, an open read of the input would keep the process running.
    return { pieces: stdin, onCommit: async () => {}, close: () => void stdin.destroy() };
  }
  if (config.redisUrl === null) throw new Error('--stream reads from Redis: set REDIS_URL');
  const { openStreamLines } = await import('../../intake/ingest/tail/stream-lines.ts');
  const lines = await openStreamLines({
    url: config.redisUrl,
    stream,
    group,
    consumer: 'follower',
    stop: terminal.interrupted,
    log: (text) => (text.startsWith('warning: ') ? log.warn(text.slice('warning: '.length)) : log.info(text)),
  });
  return {
    pieces: lines.pieces(),
    places: lines,
    onCommit: (count) => lines.acknowledge(count),
    close: () => lines.close(),
  };
}

async function followTape(terminal: Terminal, options: FollowCommandOptions): Promise<CommandResult> {
  const config = configOf(terminal, options);
  // Loaded lazily, so that help and usage errors are fast.
  const [{ lineLog, logOf }, { openCurrentStore }, { ensureStarterRegistry }, { follow }] = await Promise.all([
    import('../line-log.ts'),
    import('../../store/current-store.ts'),
    import('../../intake/ingest/files/lists/starter-registry.ts'),
    import('../../intake/ingest/tail/follow.ts'),
  ]);
  const log = logOf(config, terminal.stderr);
  // Awaited when the process is asked to end: lines taken are written, then the store is closed.
  const { databaseUrl, dataDir, keepSupersededMs } = config;
  const to = { databaseUrl, dataDir, keepSupersededMs, stop: terminal.interrupted };
  const store = await openCurrentStore({ ...to, log: lineLog(log, 'debug') });
  try {
    await ensureStarterRegistry(store, terminal.now);
    const { tape, onBadLine, onLate, close } = await measured(
      await tapeOf(terminal, config, options, log),
      ({ line, reason }: BadLine) => log.warn({ line, reason }, 'bad line skipped'),
      { store, config, now: terminal.now, log, metricsPort: options.metricsPort },
    );
    try {
      const report = await follow(store, tape.pieces, {
        source: options.source ?? (options.stream === undefined ? 'stdin' : `stream ${options.stream}`),
        fromStart: options.fromStart ?? false,
        everyMs: liveCommitEveryMs,
        now: terminal.now,
        stop: terminal.interrupted,
        gammaSource: options.gammaSource ?? 'solve',
        rate: options.rate ?? 0.045,
        solveMost: options.solveMost,
        extendedBars: config.extendedBars,
        onBadLine,
        onNote: (note) => log.warn(note),
        onLate: lateLog(log, onLate),
        onUnsolved: (symbol) => log.warn({ symbol }, 'more contracts trade than can be solved every minute'),
        places: tape.places,
        onCommit: tape.onCommit,
      });
      return resultOf(report);
    } finally {
      tape.close();
      await close();
    }
  } finally {
    await store.close();
  }
}

/** `tapegraph follow`: reads a live tape until it ends. */
export function addFollowCommand(program: Command, terminal: Terminal): void {
  const command = withCommonOptions(program.command('follow'))
    .summary('read a live tape from stdin or a Redis stream')
    .description(
      'Reads a live tape (docs/live-tape.md: one JSON object per line) from stdin or a Redis stream, until it ends or the command is stopped. ' +
        'Results and the position in the tape are committed up to ten times a second. After a restart, reading continues from that position.',
    )
    .option('--source <name>', 'name of the tape, under which its position is stored (default: stdin)')
    .option('--stream <name>', 'read a Redis stream at REDIS_URL instead; each entry has one line in its field `line`')
    .option('--group <name>', 'consumer group of the stream (default: tapegraph)')
    .option('--from-start', 'stdin starts at the first line of the tape: skip the lines read before')
    .addOption(
      choice(
        '--gamma-source <source>',
        'gammas of chains: solved from quotes, or the tape’s (default: solve)',
        gammaSources,
      ),
    )
    .option(
      '--metrics-port <n>',
      'serve metrics on this port of METRICS_HOST; 0 = any free port',
      wholeNumber(0, 65_535),
    )
    .addOption(rateOption())
    .addOption(solveMostOption());
  withExamples(command, [
    ['follow < tape.ndjson', 'a tape that continues where the last one ended'],
    ['follow --stream tape', 'the Redis stream `tape`, as consumer group `tapegraph`'],
    ['follow --source feed-1 --from-start < tape.ndjson', 'a tape that is sent from its start every time'],
  ]);
  command.action(
    printing(
      terminal,
      () => command.opts(),
      () => followTape(terminal, command.opts<FollowCommandOptions>()),
    ),
  );
}

/** Source of lines. */
interface Tape {
  pieces: AsyncIterable<Uint8Array>;
  places?: TapePlaces;
  /** Called when this many more chunks, in the order of arrival, are stored. */
  onCommit(pieces: number): Promise<void>;
  close(): void;
}

async function* counted(pieces: AsyncIterable<Uint8Array>, metrics: FollowMetrics): AsyncGenerator<Uint8Array> {
  for await (const piece of pieces) {
    metrics.taken(piece.byteLength);
    yield piece;
  }
}

/** Dependencies of a follower's metrics. */
interface FollowWorld {
  store: Store;
  config: Config;
  now: Clock;
  log: Logger;
  metricsPort: number | undefined;
}

/**
 * Wraps `tape` and its listeners so that they update metrics, which are served at `metricsPort` until `close`; returns
 * them unchanged if that is undefined.
 */
async function measured<Line>(
  tape: Tape,
  onBadLine: (line: Line) => void,
  { store, config, now, log, metricsPort }: FollowWorld,
): Promise<{ tape: Tape; onBadLine: (line: Line) => void; onLate: () => void; close: () => Promise<void> }> {
  if (metricsPort === undefined) return { tape, onBadLine, onLate: () => {}, close: async () => {} };
  const [{ createFollowMetrics }, { dataAges, serveMetrics }] = await Promise.all([
    import('../../platform/observe/follow-metrics.ts'),
    import('../server/observing.ts'),
  ]);
  const metrics = createFollowMetrics(dataAges(store, now));
  const served = await serveMetrics(metrics, { ...config, metricsPort }, '--metrics-port');
  log.info(`metrics are at ${served!.url}`);
  return {
    tape: {
      ...tape,
      pieces: counted(tape.pieces, metrics),
      onCommit(pieces) {
        metrics.committed(now());
        return tape.onCommit(pieces);
      },
    },
    onBadLine(line) {
      metrics.badLine();
      onBadLine(line);
    },
    onLate: metrics.late,
    close: served!.closer.close,
  };
}
