// `npm run fuzz -- --requests 20000 --seed 1`: sends generated requests to a gateway and judges every answer. Without
// --url it starts a gateway of its own on the sample market. Exit code 1 = a finding. docs/security.md lists the
// checks.
import { readFileSync } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { exchangeDate } from '../src/core/domain/market-time.ts';
import { requestOf } from '../test/fuzz/generate.ts';
import { curlOf, type RequestKind } from '../test/fuzz/request.ts';
import { type FuzzReport, fuzz, judged } from '../test/fuzz/run.ts';
import { openSender } from '../test/fuzz/send.ts';
import { describeTarget, type FuzzCredential, type Target } from '../test/fuzz/target.ts';
import { command, type OwnGateway, residentBytes, type Settings, startGateway } from './own-gateway.ts';

const { values } = parseArgs({
  options: {
    requests: { type: 'string', default: '20000' },
    seed: { type: 'string', default: String(Date.now() % 1_000_000) },
    first: { type: 'string', default: '0' },
    only: { type: 'string', multiple: true },
    kind: { type: 'string', multiple: true },
    concurrency: { type: 'string', default: '16' },
    today: { type: 'string', default: exchangeDate(Date.now()) },
    /** Also documents that multiply: much work for few bytes. */
    heavy: { type: 'boolean', default: false },
    url: { type: 'string' },
    credential: { type: 'string', multiple: true },
    data: { type: 'string' },
  },
});

const usage =
  'npm run fuzz -- [--requests N] [--seed S] [--first N] [--only N]… [--kind socket]… [--concurrency C] [--today YYYY-MM-DD] [--heavy] [--data FOLDER] [--url URL --credential name=tier=text …]';
const replayed = `--today ${values.today}${values.heavy ? ' --heavy' : ''}`;
const slowMs = 2000;
const patienceMs = 30_000;

/** A key and a session of each tier, and invalidated ones. */
async function makeCredentials(settings: Settings): Promise<Record<string, FuzzCredential>> {
  const made: Record<string, FuzzCredential> = {};
  const key = async (account: string, ...more: string[]) =>
    String((await command(settings, 'key', 'create', '--account', account, ...more)).key);
  const session = async (account: string, life = '7d') =>
    String((await command(settings, 'session', 'create', '--account', account, '--expires-in', life)).token);
  for (const tier of ['pro', 'basic', 'free'] as const) {
    await command(
      settings,
      'account',
      'set',
      `fuzz-${tier}`,
      '--api-tier',
      tier,
      '--site-tier',
      tier,
      '--classification',
      'non_professional',
    );
    made[`${tier}-key`] = { text: await key(`fuzz-${tier}`), tier, attested: true };
    made[`${tier}-session`] = { text: await session(`fuzz-${tier}`), tier, attested: true };
  }
  await command(
    settings,
    'account',
    'set',
    'fuzz-undeclared',
    '--api-tier',
    'pro',
    '--site-tier',
    'pro',
    '--classification',
    'none',
  );
  made['undeclared-key'] = { text: await key('fuzz-undeclared'), tier: 'pro', attested: false };
  await command(settings, 'account', 'set', 'fuzz-declaring', '--api-tier', 'pro', '--site-tier', 'pro');
  made['declaring-session'] = { text: await session('fuzz-declaring'), tier: 'pro', attested: true };
  made['expired-session'] = { text: await session('fuzz-pro', '1s'), tier: null, attested: false };
  made['wrong-key'] = { text: `${made['pro-key']!.text.slice(0, -3)}abc`, tier: null, attested: false };
  return made;
}

function givenCredentials(): Record<string, FuzzCredential> {
  return Object.fromEntries(
    (values.credential ?? []).map((given) => {
      const [name, tier, ...text] = given.split('=');
      return [name!, { text: text.join('='), tier: tier as FuzzCredential['tier'], attested: true }];
    }),
  );
}

const settingsOf = (data: string): Settings => ({
  TAPEGRAPH_DATA: data,
  SESSION_SECRET: 'a secret of the fuzzer alone, long enough for HS256',
  LOG_LEVEL: 'warn',
  RATE_ANONYMOUS: '1000000',
  RATE_FREE: '1000000',
  RATE_BASIC: '1000000',
  RATE_PRO: '1000000',
  NODE_OPTIONS: '--unhandled-rejections=strict',
});

const mb = (bytes: number | null) => (bytes === null ? '-' : `${(bytes / 1e6).toFixed(0)} MB`);

/** Watches what the gateway's processes take while requests are sent. */
function watchMemory(gateway: OwnGateway | null) {
  const pid = gateway?.workers[0] ?? null;
  const start = pid === null ? null : residentBytes(pid);
  let peak = start ?? 0;
  const look = () => {
    if (pid !== null) peak = Math.max(peak, residentBytes(pid) ?? 0);
  };
  const timer = setInterval(look, 500);
  return {
    text() {
      clearInterval(timer);
      look();
      return pid === null
        ? ''
        : `memory     ${mb(start)} at the start, ${mb(peak)} at most, ${mb(residentBytes(pid))} at the end`;
    },
  };
}

/** Asks once more, alone, what was slow beside others; a request that is slow alone too hangs. */
async function slowAlone(
  target: Target,
  seed: number,
  slow: readonly number[],
): Promise<{ index: number; ms: number }[]> {
  const sender = openSender(target, 1, patienceMs);
  const found: { index: number; ms: number }[] = [];
  for (const index of slow.slice(0, 50)) {
    const { came } = await judged(target, sender, requestOf(target.language, seed, index));
    if (!came || came.ms > slowMs) found.push({ index, ms: came?.ms ?? patienceMs });
  }
  sender.close();
  return found;
}

function printReport(
  { sent, answers, latencies, worst, slow, findings }: FuzzReport,
  seed: number,
  tookMs: number,
): void {
  const sorted = latencies.filter((ms) => ms > 0).sort();
  const at = (part: number) => `${(sorted[Math.floor((sorted.length - 1) * part)] ?? 0).toFixed(1)} ms`;
  console.log(`requests   ${sent} in ${(tookMs / 1000).toFixed(0)} s, seed ${seed}`);
  console.log(
    `latency    p50 ${at(0.5)}, p99 ${at(0.99)}, p99.9 ${at(0.999)}, worst ${worst.ms.toFixed(0)} ms (#${worst.index}); ${slow.length} over ${slowMs} ms`,
  );
  console.log('answers');
  for (const [kind, times] of [...answers].sort(([, a], [, b]) => b - a))
    console.log(`  ${String(times).padStart(8)}  ${kind}`);
  for (const { what, index, curl, times } of findings)
    console.log(
      `\nFOUND ${times}×, first #${index}: ${what}\n  ${curl}\n  npm run fuzz -- --seed ${seed} --only ${index} ${replayed}`,
    );
}

async function showOnly(target: Target, seed: number, indexes: readonly number[]): Promise<boolean> {
  const sender = openSender(target, 1, patienceMs);
  let ok = true;
  for (const index of indexes) {
    const request = requestOf(target.language, seed, index);
    const { came, wrong } = await judged(target, sender, request);
    ok &&= wrong === null;
    console.log(`#${index} ${curlOf(target.url, request)}`);
    console.log(came ? `  ${came.status} in ${came.ms.toFixed(0)} ms: ${came.text.slice(0, 2000)}` : '  no answer');
    if (wrong) console.log(`  FOUND ${wrong}`);
  }
  sender.close();
  return ok;
}

async function run(target: Target, gateway: OwnGateway | null): Promise<boolean> {
  const seed = Number(values.seed);
  if (values.only) return showOnly(target, seed, values.only.map(Number));
  const memory = watchMemory(gateway);
  const started = performance.now();
  const report = await fuzz(target, {
    seed,
    first: Number(values.first),
    count: Number(values.requests),
    ...(values.kind && { kinds: values.kind as RequestKind[] }),
    concurrency: Number(values.concurrency),
    patienceMs,
    slowMs,
    mostFindings: 30,
    onProgress: (sent) => process.stderr.write(`\r${sent} `),
  });
  printReport(report, seed, performance.now() - started);
  console.log(memory.text());
  const hanging = gateway?.exit() === null || !gateway ? await slowAlone(target, seed, report.slow) : [];
  for (const { index, ms } of hanging)
    console.log(
      `\nFOUND #${index} takes ${ms.toFixed(0)} ms alone\n  npm run fuzz -- --seed ${seed} --only ${index} ${replayed}`,
    );
  if (gateway && gateway.exit() !== null) console.log(`\nFOUND the gateway ended with ${gateway.exit()}`);
  return report.findings.length === 0 && hanging.length === 0 && (gateway?.exit() ?? null) === null;
}

async function withOwnGateway(): Promise<boolean> {
  const data = values.data ?? (await mkdtemp(join(tmpdir(), 'tapegraph-fuzz-')));
  const logFile = join(data, 'gateway.log');
  await rm(logFile, { force: true });
  const settings = settingsOf(data);
  const gateway = await startGateway(settings, ['--sample'], logFile);
  try {
    const target = await describeTarget(gateway.url, await makeCredentials(settings), values.today, values.heavy);
    const ok = await run(target, gateway);
    const errors = readFileSync(logFile, 'utf8')
      .split('\n')
      .filter((line) => /"level":(50|60)|nhandled/.test(line));
    if (errors.length > 0)
      console.log(`\nFOUND ${errors.length} errors in the log, first: ${errors[0]!.slice(0, 1500)}`);
    return ok && errors.length === 0;
  } finally {
    await gateway.stop();
    if (values.data === undefined) await rm(data, { recursive: true, force: true });
  }
}

try {
  const ok = values.url
    ? await run(await describeTarget(values.url, givenCredentials(), values.today, values.heavy), null)
    : await withOwnGateway();
  process.exitCode = ok ? 0 : 1;
} catch (error) {
  console.error(`${error instanceof Error ? error.message : error}\n${usage}`);
  process.exitCode = 2;
}
