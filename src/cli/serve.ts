import { setTimeout as delay } from 'node:timers/promises';
import type { Command } from 'commander';
import { type Logger, pino } from 'pino';
import type { Config } from '../config.ts';
import { clockTime } from '../domain/calendar.ts';
import type { Clock } from '../domain/clock.ts';
import { exchangeDate, exchangeMinuteOfDay } from '../domain/market-time.ts';
import { clockFrom } from './clock.ts';
import { type Closer, closeAll } from './closing.ts';
import { type Listening, listen, stop, urlOf } from './listen.ts';
import { type CommonOptions, configOf, instant, wholeNumber, withCommonOptions, withExamples } from './options.ts';
import { alwaysOpen, bringSample, startLiveSample } from './sample.ts';
import type { Terminal } from './terminal.ts';

/** A server that is to run. */
interface Gateway {
  terminal: Terminal;
  config: Config;
  options: ServeOptions;
  clock: Clock;
  log: Logger;
}

/** A server that runs; `key` = the sample market's, null without one. */
interface Opened {
  listening: Listening;
  key: string | null;
  now: Clock;
}

interface ServeOptions extends CommonOptions {
  port?: number;
  host?: string;
  clock?: number;
  sample?: boolean;
  alwaysOpen?: boolean;
}

function untilInterrupted({ interrupted }: Terminal): Promise<void> {
  return new Promise((resolve) => {
    if (interrupted.aborted) resolve();
    interrupted.addEventListener('abort', () => resolve(), { once: true });
  });
}

/** What people see when the server is up; `key` = the sample market's, null without one; `clock` = what to know of the server's clock. */
function greeting(url: string, key: string | null, clock: string | null): string[] {
  return [
    `Tapegraph listens on ${url}`,
    '',
    `  GraphiQL   ${url}/graphql`,
    `  API key    ${key ?? 'make one: npm run tapegraph -- key create --account <id>'}`,
    `  REST       curl -H 'Authorization: Bearer ${key ?? '<key>'}' '${url}/v2/quotes?symbols=SPY,QQQ'`,
    ...(clock === null ? [] : [`  Clock      ${clock}`]),
    '',
    'Ctrl-C stops it.',
  ];
}

/** Where a clock that was moved reads, for who wonders; null when it was not. */
function clockNote(clock: Clock, now: Clock): string | null {
  const readsMs = now();
  if (Math.abs(readsMs - clock()) < 1000) return null;
  return `${exchangeDate(readsMs)} ${clockTime(Math.floor(exchangeMinuteOfDay(readsMs)))} in New York: the market is closed now, its next session trades (--always-open)`;
}

/** How long requests in flight may take to finish when the server is told to stop, ms. */
const graceMs = 5000;
/** How long everything may take to be closed, those requests among it, ms. A little later the process ends whatever it waits for. */
const shutdownMs = 9000;

/** Opens what a server needs and lets it listen; everything that was opened is in `closers`, also when this throws. */
async function open(gateway: Gateway, closers: Closer[]): Promise<Opened> {
  const { terminal, config, options, clock, log } = gateway;
  // Loaded here, so that help and usage errors need not wait for it all.
  const [{ openStore }, { watchSymbols }, { watchChanges }, { ensureStarterRegistry }, { openAccess }, { createApp }] =
    await Promise.all([
      import('../store/connection.ts'),
      import('../store/symbols.ts'),
      import('../store/changes.ts'),
      import('../ingest/starter-registry.ts'),
      import('../access/open-access.ts'),
      import('../server.ts'),
    ]);
  const line = (text: string) =>
    text.startsWith('warning: ') ? log.warn(text.slice('warning: '.length)) : log.info(text);
  const { databaseUrl, dataDir, databaseTimeoutMs: statementTimeoutMs } = config;
  const store = await openStore({ databaseUrl, dataDir, statementTimeoutMs, log: line });
  closers.push({ name: 'the store', close: () => store.close() });
  const now = options.alwaysOpen ? await alwaysOpen(store, clock) : clock;
  await ensureStarterRegistry(store, now);
  closers.push({ name: 'the registry’s listener', close: await watchSymbols(store), atMostMs: 1000 });
  const changes = await watchChanges(store);
  closers.push({ name: 'the listener for changes', close: changes.stop, atMostMs: 1000 });
  const access = await openAccess({ store, config, now, log: line });
  closers.push({ name: 'usage counts', close: () => access.close(), atMostMs: 3000 });
  // The sample market is written over connections of its own, where a statement may take as long as in any ingest.
  const ingested = options.sample ? await openStore({ databaseUrl, dataDir, log: line }) : null;
  if (ingested) closers.push({ name: 'the sample market’s store', close: () => ingested.close(), atMostMs: 1000 });
  const sample = ingested && { terminal, config, store: ingested, access, now, log };
  const key = sample && (await bringSample(sample));
  const draining = () => terminal.interrupted.aborted;
  const parts = { config, store, access, now, log, generation: changes.generation, draining, sampleKey: key };
  const listening = await listen(createApp(parts), config);
  closers.push({ name: 'requests in flight', close: () => stop(listening, graceMs) });
  // A tenth of a second of the event loop, that nobody who asks for Arrow is to wait for.
  void import('../rest/arrow-stream.ts').then(({ loadArrow }) => loadArrow());
  if (sample && key !== null) closers.push(startLiveSample(sample));
  return { listening, key, now };
}

/**
 * Runs a server until the process is asked to end. Then `/readyz` says so, and every answer that its connection ends with it; after the
 * configured delay streams end and no more requests are taken, those in flight finish, and everything is closed, usage counts first.
 */
async function serve(gateway: Gateway): Promise<void> {
  const { terminal, config, options, clock, log } = gateway;
  const { interrupted } = terminal;
  const endAtLatest = () => terminal.endWithin?.(config.drainDelayMs + shutdownMs + 500);
  interrupted.addEventListener('abort', endAtLatest, { once: true });
  const closers: Closer[] = [];
  try {
    const { listening, key, now } = await open(gateway, closers);
    const { address } = listening;
    const url = urlOf(address);
    const ready = { url, host: address.address, port: address.port, pid: process.pid, ...(key !== null && { key }) };
    terminal.stdout.write(
      options.json ? `${JSON.stringify(ready)}\n` : `${greeting(url, key, clockNote(clock, now)).join('\n')}\n`,
    );
    await untilInterrupted(terminal);
    log.info('stopping');
    listening.answering.lastAnswers();
    await delay(config.drainDelayMs);
  } catch (error) {
    // Told to stop while it starts, a server ends like any other.
    if (!interrupted.aborted) throw error;
  } finally {
    for (const { begin } of closers) begin?.();
    const left = await closeAll(closers, shutdownMs, () => performance.now());
    for (const { name, reason } of left) log.warn({ reason }, `left behind: ${name}`);
    if (interrupted.aborted && left.length > 0) terminal.endWithin?.(0);
  }
}

/** `tapegraph serve`: the gateway. */
export function addServeCommand(program: Command, terminal: Terminal): void {
  const command = withCommonOptions(program.command('serve'))
    .summary('run the gateway')
    .description(
      'Runs the gateway until it is told to stop (Ctrl-C, SIGTERM). With --json it prints one object when it is ready: {"url": …, "port": …}.',
    )
    .option(
      '--port <n>',
      'TCP port; 0 lets the system choose one (setting PORT, default: 4000)',
      wholeNumber(0, 65_535),
    )
    .option('--host <address>', 'address to listen on (setting HOST, default: 127.0.0.1)')
    .option(
      '--clock <time>',
      'start the server’s clock at this time, from where it runs on: for replay and tests',
      instant,
    )
    .option(
      '--sample',
      'bring the sample market into an empty store, and a key to read it with; while the market is open it trades',
    )
    .option(
      '--always-open',
      'with --sample: when the market is closed, the server’s clock is set forward to the open of its next session, or to where that had come to when the server was last stopped, and runs on from there',
    );
  withExamples(command, [
    ['serve', 'on http://127.0.0.1:4000'],
    ['serve --sample', 'what npm start does: with something to look at'],
    ['serve --sample --always-open', 'the sample market trades, at any hour'],
    ['serve --port 0 --clock 2026-11-18T15:00:00Z --json', 'on any free port, at another time'],
  ]);
  command.action(async () => {
    const options = command.opts<ServeOptions>();
    if (options.alwaysOpen && !options.sample) command.error('error: --always-open goes with --sample');
    const now = options.clock === undefined ? terminal.now : clockFrom(options.clock, terminal.now);
    const config = configOf(terminal, options);
    const log = pino({ level: config.logLevel, base: null, timestamp: pino.stdTimeFunctions.isoTime }, terminal.stderr);
    await serve({ terminal, config, options, clock: now, log });
  });
}
