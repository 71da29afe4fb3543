import type { Command } from 'commander';
import { pino } from 'pino';
import type { Config } from '../config.ts';
import type { Clock } from '../domain/clock.ts';
import { clockFrom } from './clock.ts';
import { listen, stop, urlOf } from './listen.ts';
import { type CommonOptions, configOf, instant, wholeNumber, withCommonOptions, withExamples } from './options.ts';
import { bringSample } from './sample.ts';
import type { Terminal } from './terminal.ts';

interface ServeOptions extends CommonOptions {
  port?: number;
  host?: string;
  clock?: number;
  sample?: boolean;
}

function untilInterrupted({ interrupted }: Terminal): Promise<void> {
  return new Promise((resolve) => {
    if (interrupted.aborted) resolve();
    interrupted.addEventListener('abort', () => resolve(), { once: true });
  });
}

/** What people see when the server is up; `key` = the sample market's, null without one. */
function greeting(url: string, key: string | null): string[] {
  return [
    `Tapegraph listens on ${url}`,
    '',
    `  GraphiQL   ${url}/graphql`,
    `  API key    ${key ?? 'make one: npm run tapegraph -- key create --account <id>'}`,
    `  REST       curl -H 'Authorization: Bearer ${key ?? '<key>'}' '${url}/v2/quotes?symbols=SPY,QQQ'`,
    '',
    'Ctrl-C stops it.',
  ];
}

/** Runs a server until the process is asked to end; then requests in flight finish and everything is closed. */
async function serve(terminal: Terminal, config: Config, options: ServeOptions, now: Clock): Promise<void> {
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
    await ensureStarterRegistry(store, now);
    closers.push(await watchSymbols(store));
    const changes = await watchChanges(store);
    closers.push(changes.stop);
    const access = await openAccess({ store, config, now, log: line });
    closers.push(() => access.close());
    const key = options.sample ? await bringSample({ terminal, config, store, access, now, log }) : null;
    const { server, address } = await listen(
      createApp({ config, store, access, now, log, generation: changes.generation }),
      config,
    );
    closers.push(() => stop(server));
    const url = urlOf(address);
    const ready = { url, host: address.address, port: address.port, pid: process.pid, ...(key !== null && { key }) };
    terminal.stdout.write(options.json ? `${JSON.stringify(ready)}\n` : `${greeting(url, key).join('\n')}\n`);
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
    .option('--sample', 'bring the sample market into an empty store, and a key to read it with');
  withExamples(command, [
    ['serve', 'on http://127.0.0.1:4000'],
    ['serve --sample', 'what npm start does: with something to look at'],
    ['serve --port 0 --clock 2026-11-18T15:00:00Z --json', 'on any free port, at another time'],
  ]);
  command.action(async () => {
    const options = command.opts<ServeOptions>();
    const now = options.clock === undefined ? terminal.now : clockFrom(options.clock, terminal.now);
    await serve(terminal, configOf(terminal, options), options, now);
  });
}
