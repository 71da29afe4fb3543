import type { Command } from 'commander';
import { pino } from 'pino';
import type { Config } from '../config.ts';
import { clockTime } from '../domain/calendar.ts';
import type { Clock } from '../domain/clock.ts';
import { exchangeDate, exchangeMinuteOfDay } from '../domain/market-time.ts';
import { clockFrom } from './clock.ts';
import { listen, stop, urlOf } from './listen.ts';
import { type CommonOptions, configOf, instant, wholeNumber, withCommonOptions, withExamples } from './options.ts';
import { alwaysOpen, bringSample, startLiveSample } from './sample.ts';
import type { Terminal } from './terminal.ts';

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

/** Runs a server until the process is asked to end; then requests in flight finish and everything is closed. */
async function serve(terminal: Terminal, config: Config, options: ServeOptions, clock: Clock): Promise<void> {
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
  const log = pino({ level: config.logLevel, base: null, timestamp: pino.stdTimeFunctions.isoTime }, terminal.stderr);
  const line = (text: string) =>
    text.startsWith('warning: ') ? log.warn(text.slice('warning: '.length)) : log.info(text);
  // What was opened, closed in the opposite order whatever happens.
  const closers: (() => Promise<void>)[] = [];
  try {
    const store = await openStore({ databaseUrl: config.databaseUrl, dataDir: config.dataDir, log: line });
    closers.push(() => store.close());
    const now = options.alwaysOpen ? await alwaysOpen(store, clock) : clock;
    await ensureStarterRegistry(store, now);
    closers.push(await watchSymbols(store));
    const changes = await watchChanges(store);
    closers.push(changes.stop);
    const access = await openAccess({ store, config, now, log: line });
    closers.push(() => access.close());
    const key = options.sample ? await bringSample({ terminal, config, store, access, now, log }) : null;
    const { server, address } = await listen(
      createApp({ config, store, access, now, log, generation: changes.generation, sampleKey: key }),
      config,
    );
    closers.push(() => stop(server));
    if (key !== null) closers.push(startLiveSample({ terminal, config, store, access, now, log }));
    const url = urlOf(address);
    const ready = { url, host: address.address, port: address.port, pid: process.pid, ...(key !== null && { key }) };
    terminal.stdout.write(
      options.json ? `${JSON.stringify(ready)}\n` : `${greeting(url, key, clockNote(clock, now)).join('\n')}\n`,
    );
    await untilInterrupted(terminal);
    log.info('stopping');
  } finally {
    for (const close of closers.reverse()) await close();
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
    await serve(terminal, configOf(terminal, options), options, now);
  });
}
