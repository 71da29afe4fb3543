import { Readable } from 'node:stream';
import type { Command } from 'commander';
import { pino } from 'pino';
import { type GammaSource, gammaSources } from '../domain/gex.ts';
import type { FollowReport } from '../ingest/follow.ts';
import { type CommonOptions, choice, configOf, number, withCommonOptions, withExamples } from './options.ts';
import { type Outcome, printing } from './outcome.ts';
import type { Terminal } from './terminal.ts';

interface FollowCommandOptions extends CommonOptions {
  source?: string;
  fromStart?: boolean;
  gammaSource?: GammaSource;
  rate?: number;
}

const everyMs = 500;

function outcomeOf({ lines, throughLine, badLines, commits }: FollowReport): Outcome {
  return {
    json: { lines, through_line: throughLine, bad_lines: badLines, commits },
    lines: [`${lines} lines taken, ${throughLine} in all; ${badLines} bad; ${commits} commits`],
  };
}

async function followTape(terminal: Terminal, options: FollowCommandOptions): Promise<Outcome> {
  const config = configOf(terminal, options);
  // Loaded here, so that help and usage errors need not wait for it all.
  const [{ openStore }, { ensureStarterRegistry }, { follow }] = await Promise.all([
    import('../store/connection.ts'),
    import('../ingest/starter-registry.ts'),
    import('../ingest/follow.ts'),
  ]);
  const log = pino({ level: config.logLevel, base: null, timestamp: pino.stdTimeFunctions.isoTime }, terminal.stderr);
  // Not left behind when the process is asked to end: what was taken is written, then the store is closed.
  const store = await openStore({
    databaseUrl: config.databaseUrl,
    dataDir: config.dataDir,
    log: (text) => log.debug(text),
  });
  const stdin = terminal.stdin?.() ?? Readable.from([]);
  try {
    await ensureStarterRegistry(store, terminal.now);
    const report = await follow(store, stdin, {
      source: options.source ?? 'stdin',
      fromStart: options.fromStart ?? false,
      everyMs,
      now: terminal.now,
      stop: terminal.interrupted,
      gammaSource: options.gammaSource ?? 'solve',
      rate: options.rate ?? 0.045,
      onBadLine: ({ line, reason }) => log.warn({ line, reason }, 'line left out'),
    });
    return outcomeOf(report);
  } finally {
    // Told to stop, it may still wait for input, which would keep the process.
    stdin.destroy();
    await store.close();
  }
}

/** `tapegraph follow`: a live tape, as long as it comes. */
export function addFollowCommand(program: Command, terminal: Terminal): void {
  const command = withCommonOptions(program.command('follow'))
    .summary('take a live tape from stdin')
    .description(
      'Takes a live tape (docs/live-tape.md: one JSON object a line) from stdin, until it ends or the command is told to stop. What it ' +
        'says is written twice a second, with the place the tape was taken to; a follower that starts again goes on from there.',
    )
    .option('--source <name>', 'name of the tape, by which a follower finds where the last one was (default: stdin)')
    .option('--from-start', 'stdin brings the tape from its first line on: lines taken before are passed over')
    .addOption(
      choice(
        '--gamma-source <source>',
        'gammas of chains: solved from quotes, or the tape’s (default: solve)',
        gammaSources,
      ),
    )
    .option('--rate <fraction>', 'continuous interest rate a year for solving (default: 0.045)', number(-0.5, 1));
  withExamples(command, [
    ['follow < tape.ndjson', 'a tape that goes on where the last one ended'],
    ['follow --source feed-1 --from-start < tape.ndjson', 'a tape that begins anew with every start'],
  ]);
  command.action(
    printing(
      terminal,
      () => command.opts(),
      () => followTape(terminal, command.opts<FollowCommandOptions>()),
    ),
  );
}
