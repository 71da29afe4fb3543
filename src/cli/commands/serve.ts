import type { AddressInfo } from 'node:net';
import { availableParallelism, totalmem } from 'node:os';
import { type Command, InvalidArgumentError } from 'commander';
import type { Config } from '../../config/config.ts';
import { isWorkers, workersExpected } from '../../config/values.ts';
import { clockTime } from '../../domain/calendar.ts';
import { marketClock } from '../../domain/market-clock.ts';
import { exchangeDate, exchangeMinuteOfDay } from '../../domain/market-time.ts';
import { firstRoute } from '../../pages/first-requests.ts';
import type { Clock } from '../../runtime/clock.ts';
import { type MemoryPlan, planMemory } from '../../runtime/memory-plan.ts';
import { clockFrom } from '../io/clock.ts';
import { type CommonOptions, configOf, instant, wholeNumber, withCommonOptions, withExamples } from '../io/options.ts';
import type { Terminal } from '../io/terminal.ts';
import type { Gateway } from '../server/gateway.ts';

interface ServeOptions extends CommonOptions {
  port?: number;
  host?: string;
  workers?: string;
  spareWorker?: boolean;
  clock?: number;
  sample?: boolean;
  alwaysOpen?: boolean;
}

function workers(text: string): string {
  if (!isWorkers(text)) throw new InvalidArgumentError(`Expected ${workersExpected}.`);
  return text;
}

/**
 * What people see when the server is up; `key` = the sample market's, null without one; `market` = what to know of its
 * hours.
 */
function greeting(url: string, key: string | null, market: string | null): string[] {
  return [
    `Tapegraph listens on ${url}`,
    '',
    `  Home       ${url}/`,
    `  Dashboard  ${url}/dashboard`,
    `  GraphiQL   ${url}/graphql`,
    `  API key    ${key ?? 'create one: npm run tapegraph -- account set me && npm run tapegraph -- key create --account me'}`,
    `  REST       curl -H "Authorization: Bearer ${key ?? '$KEY'}" '${url}${firstRoute}'`,
    ...(market === null ? [] : [`  Market     ${market}`]),
    '',
    'Ctrl-C stops it.',
  ];
}

const inNewYork = (ms: number) => `${exchangeDate(ms)} ${clockTime(Math.floor(exchangeMinuteOfDay(ms)))} in New York`;

/**
 * What to know of the sample market's hours: that the server's clock was moved to a session (`isMoved`), or that the
 * market is closed and how it can trade now. Null when it trades by the real clock.
 */
export function marketHours(nowMs: number, isMoved: boolean): string | null {
  const { isOpen, nextOpenMs } = marketClock(nowMs);
  if (isMoved) return `${inNewYork(nowMs)}; the market is closed, so the next session is simulated (--always-open)`;
  return isOpen ? null : `closed until ${inNewYork(nextOpenMs)}; to let it trade now: npm start -- --always-open`;
}

/** What is announced of a server that takes requests. */
interface Announced {
  address: AddressInfo;
  key: string | null;
  now: Clock;
  /** Process ids of those that answer requests; absent: this one does. */
  workers?: number[];
}

/** One JSON object, or what people read. */
function announcement(url: string, { address, key, now, workers }: Announced, clock: Clock, json: boolean): string {
  // Without the sample's key there is no sample market to speak of.
  const market = key === null ? null : marketHours(now(), Math.abs(now() - clock()) >= 1000);
  if (!json) return greeting(url, key, market).join('\n');
  const { address: host, port } = address;
  return JSON.stringify({
    url,
    host,
    port,
    pid: process.pid,
    ...(workers && { workers }),
    ...(key !== null && { key }),
  });
}

/** What each of so many processes may take; where there are several, what starts them is one more. */
function memoryOf(config: Config, gateways: number): MemoryPlan {
  return planMemory({
    settingBytes: config.memoryLimitBytes,
    constrainedBytes: process.constrainedMemory(),
    machineBytes: totalmem(),
    processes: gateways === 1 ? 1 : gateways + 1,
  });
}

async function serve(asked: Omit<Gateway, 'memory'>, json: boolean): Promise<void> {
  // Loaded here, so that no other command waits for the server.
  const [{ runGateway }, { urlOf }] = await Promise.all([
    import('../server/gateway.ts'),
    import('../server/listen.ts'),
  ]);
  const { terminal, config, clock } = asked;
  const announce = (announced: Announced) =>
    void terminal.stdout.write(`${announcement(urlOf(announced.address), announced, clock, json)}\n`);
  const count = config.workers === 'auto' ? availableParallelism() : config.workers;
  const gateway = { ...asked, memory: memoryOf(config, count) };
  if (count === 1)
    return runGateway(gateway, ({ listening: { address }, key, now }) => announce({ address, key, now }));
  const { runWorkers } = await import('../server/serve-workers.ts');
  await runWorkers(gateway, count, announce);
}

/** `tapegraph serve`: the gateway. */
export function addServeCommand(program: Command, terminal: Terminal): void {
  const command = withCommonOptions(program.command('serve'))
    .summary('run the gateway')
    .description(
      'Runs the gateway until stopped (Ctrl-C, SIGTERM). With --json it prints one object when it is ready: {"url": …, "port": …}.',
    )
    .option('--port <n>', 'TCP port; 0 = any free port (setting PORT, default: 4000)', wholeNumber(0, 65_535))
    .option('--host <address>', 'address to listen on (setting HOST, default: 127.0.0.1)')
    .option(
      '--workers <n>',
      'number of server processes on the port; auto = one per processor (setting WORKERS, default: 1)',
      workers,
    )
    .option('--no-spare-worker', 'with --workers: keep no spare process that replaces a worker that exits')
    .option('--clock <time>', 'start the server’s clock at this time; for replay and tests', instant)
    .option(
      '--sample',
      'load the sample market into an empty store and create a key for it; it trades while the market is open',
    )
    .option(
      '--always-open',
      'with --sample: if the market is closed, set the server’s clock to the open of its next session, or to the time at which it was last stopped',
    );
  withExamples(command, [
    ['serve', 'on http://127.0.0.1:4000'],
    ['serve --workers auto', 'with all processors'],
    ['serve --sample', 'what npm start runs'],
    ['serve --sample --always-open', 'the sample market trades, at any hour'],
    ['serve --port 0 --clock 2026-11-18T15:00:00Z --json', 'on any free port, at another time'],
  ]);
  command.action(async () => {
    const options = command.opts<ServeOptions>();
    if (options.alwaysOpen && !options.sample) command.error('error: --always-open requires --sample');
    const now = options.clock === undefined ? terminal.now : clockFrom(options.clock, terminal.now);
    const config = configOf(terminal, options);
    const { logOf } = await import('../line-log.ts');
    const log = logOf(config, terminal.stderr);
    const endedBarsOnly = options.clock !== undefined;
    await serve({ terminal, config, options, clock: now, endedBarsOnly, log }, options.json ?? false);
  });
}
