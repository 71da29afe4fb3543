import type { Command } from 'commander';
import { secretsOf } from '../config.ts';
import { clockTime } from '../domain/calendar.ts';
import type { Clock } from '../domain/clock.ts';
import { exchangeDate, exchangeMinuteOfDay } from '../domain/market-time.ts';
import { openLog } from '../observe/log.ts';
import { clockFrom } from './clock.ts';
import { type Opened, runGateway } from './gateway.ts';
import { urlOf } from './listen.ts';
import { type CommonOptions, configOf, instant, wholeNumber, withCommonOptions, withExamples } from './options.ts';
import type { Terminal } from './terminal.ts';

interface ServeOptions extends CommonOptions {
  port?: number;
  host?: string;
  clock?: number;
  sample?: boolean;
  alwaysOpen?: boolean;
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

/** What is told of a server that is ready: one JSON object, or what people read. */
function announcement({ listening, key, now }: Opened, clock: Clock, json: boolean): string {
  const { address } = listening;
  const url = urlOf(address);
  if (!json) return greeting(url, key, clockNote(clock, now)).join('\n');
  return JSON.stringify({
    url,
    host: address.address,
    port: address.port,
    pid: process.pid,
    ...(key !== null && { key }),
  });
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
    const log = openLog({ level: config.logLevel, secrets: secretsOf(config) }, terminal.stderr);
    await runGateway({ terminal, config, options, clock: now, log }, (opened) =>
      terminal.stdout.write(`${announcement(opened, now, options.json ?? false)}\n`),
    );
  });
}
