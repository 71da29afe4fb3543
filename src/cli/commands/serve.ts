import type { AddressInfo } from 'node:net';
import { availableParallelism, totalmem } from 'node:os';
import { type Command, InvalidArgumentError } from 'commander';
import { clockTime } from '../../core/domain/calendar.ts';
import { marketClock } from '../../core/domain/market-clock.ts';
import { exchangeDate, exchangeMinuteOfDay } from '../../core/domain/market-time.ts';
import { firstRoute } from '../../pages/first-requests.ts';
import type { Config } from '../../platform/config/config.ts';
import { isWorkers, workersExpected } from '../../platform/config/values.ts';
import type { Clock } from '../../platform/runtime/clock.ts';
import { type MemoryPlan, planMemory } from '../../platform/runtime/memory-plan.ts';
import {
  type CommonOptions,
  clockFrom,
  configOf,
  instant,
  wholeNumber,
  withCommonOptions,
  withExamples,
} from '../io/options.ts';
import type { Terminal } from '../io/terminal.ts';
import type { ServeOrder } from '../server/serve-workers.ts';

interface ServeOptions extends CommonOptions {
  port?: number;
  host?: string;
  workers?: string;
  spareWorker?: boolean;
  clock?: number;
  sample?: boolean;
  alwaysOpen?: boolean;
  routes?: string;
}

function workers(text: string): string {
  if (!isWorkers(text)) throw new InvalidArgumentError(`Expected ${workersExpected}.`);
  return text;
}

/**
 * The text after the start. `key` is the sample market's, null without one; `market` notes its hours; `routes` is the
 * folder of the operator's routes.
 */
function greeting(url: string, key: string | null, market: string | null, routes: string | null): string[] {
  return [
    `Tapegraph listens on ${url}`,
    '',
    `  Home       ${url}/`,
    `  Dashboard  ${url}/dashboard`,
    `  GraphiQL   ${url}/graphql`,
    `  API key    ${key ?? 'create one: npm run tapegraph -- account set me && npm run tapegraph -- key create --account me'}`,
    `  REST       curl -H "Authorization: Bearer ${key ?? '$KEY'}" '${url}${firstRoute}'`,
    ...(routes === null ? [] : [`  Routes     those of ${routes}: ${url}/docs#group-own`]),
    ...(market === null ? [] : [`  Market     ${market}`]),
    '',
    'Ctrl-C stops it.',
  ];
}

const inNewYork = (ms: number) => `${exchangeDate(ms)} ${clockTime(Math.floor(exchangeMinuteOfDay(ms)))} in New York`;

/**
 * Note on the sample market's hours: that the server's clock was moved to a session (`isMoved`), or that the market is
 * closed and how to make it trade now. Null if it trades by the real clock.
 */
export function marketHours(nowMs: number, isMoved: boolean): string | null {
  const { isOpen, nextOpenMs } = marketClock(nowMs);
  if (isMoved) return `${inNewYork(nowMs)}; the market is closed, so the next session is simulated (--always-open)`;
  return isOpen ? null : `closed until ${inNewYork(nextOpenMs)}; to let it trade now: npm start -- --always-open`;
}

/** Announcement of a server that accepts requests. */
interface Announced {
  address: AddressInfo;
  key: string | null;
  now: Clock;
  /** Process ids of the workers. */
  workers: number[];
}

/** The announcement as one JSON object, or as text for people. */
function announcement(
  url: string,
  { address, key, now, workers }: Announced,
  { clock, config: { routesDir } }: Pick<ServeOrder, 'clock' | 'config'>,
  json: boolean,
): string {
  // Without the sample's key no sample market is served.
  const market = key === null ? null : marketHours(now(), Math.abs(now() - clock()) >= 1000);
  if (!json) return greeting(url, key, market, routesDir).join('\n');
  const { address: host, port } = address;
  return JSON.stringify({
    url,
    host,
    port,
    pid: process.pid,
    workers,
    ...(key !== null && { key }),
  });
}

/** Memory of each worker, and of the spare. */
function memoryOf(config: Config, processes: number): MemoryPlan {
  return planMemory({
    settingBytes: config.memoryLimitBytes,
    constrainedBytes: process.constrainedMemory(),
    machineBytes: totalmem(),
    processes,
  });
}

/** The operator's routes in a folder. Their modules are loaded only for servers that have some. */
async function routesOf(folder: string) {
  const { RoutesFolder } = await import('../server/routes-folder.ts');
  return new RoutesFolder(folder);
}

async function serve(
  asked: Omit<ServeOrder, 'count' | 'spare' | 'memory' | 'routes'>,
  options: ServeOptions,
): Promise<void> {
  // Loaded lazily, so that no other command waits for it.
  const [{ runWorkers }, { urlOf }] = await Promise.all([
    import('../server/serve-workers.ts'),
    import('../server/listen.ts'),
  ]);
  const { terminal, config } = asked;
  const { json = false } = options;
  const count = config.workers === 'auto' ? availableParallelism() : config.workers;
  // A single worker's socket stays open while the worker is replaced; a spare's memory would only shorten that time.
  const spare = options.spareWorker ?? count > 1;
  const memory = memoryOf(config, spare ? count + 1 : count);
  const routes = config.routesDir === null ? null : await routesOf(config.routesDir);
  await runWorkers({ ...asked, count, spare, memory, routes }, (opened) => {
    terminal.stdout.write(`${announcement(urlOf(opened.address), opened, asked, json)}\n`);
  });
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
    .option('--spare-worker', 'keep a process ready that replaces a worker that exits (default with several workers)')
    .option('--no-spare-worker', 'keep none: a replacement has to start first (default with one worker)')
    .option(
      '--routes <folder>',
      'serve the GraphQL documents of this folder as REST routes; SIGHUP reads it again (setting ROUTES_DIR)',
    )
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
    ['serve --routes routes', 'with routes of your own; see docs/own-routes.md'],
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
    await serve({ terminal, config, options, clock: now, endedBarsOnly, log }, options);
  });
}
