// Writes down what a server with the sample market answers to the requests that the API reference shows:
//   node scripts/capture-examples.ts
// After a change of routes, answers or the sample market. With --check only reports the first difference of a file,
// other than in ids, tags and times. Takes a minute.
import { type ChildProcess, execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, relative } from 'node:path';
import type { Captured, CapturedExamples } from '../src/pages/reference/example-answers.ts';
import { inOrderOfExamples, shownRequest, streamTopics } from '../src/pages/reference/example-request.ts';
import { type GuideExample, guideExamples, guideRequest } from '../src/pages/reference/guides/examples.ts';
import { type Standing, standingAt } from '../src/rest/contract/example.ts';
import { routes } from '../src/rest/routes.ts';
import { comparableAnswers, firstDifference } from './generate/comparable-answers.ts';
import { untilLoaded } from './own-gateway.ts';

const root = join(import.meta.dirname, '..');
const target = join(root, 'generated/pages/examples.json');
const guideTarget = join(root, 'generated/pages/answers.json');
// A morning: the session before is reconciled, its off-exchange figures are out, and nothing trades yet.
const clock = '2026-11-20T07:30:00-05:00';
const shownHeaders = ['content-type', 'cache-control', 'etag', 'retry-after', 'deprecation', 'sunset', 'link', 'allow'];

const folder = mkdtempSync(join(tmpdir(), 'tapegraph-examples-'));
const env = { ...process.env, TAPEGRAPH_DATA: folder, LOG_LEVEL: 'error', DATABASE_URL: '', REDIS_URL: '' };

/** Keeps the first two items of a list of objects, the first six of any other list. */
function shortened(value: unknown, path: string, omitted: Record<string, number>): unknown {
  if (Array.isArray(value)) {
    const kept = value.slice(0, typeof value[0] === 'object' ? 2 : 6);
    if (kept.length < value.length) omitted[path] = value.length - kept.length;
    return kept.map((item, index) => shortened(item, `${path}.${index}`, omitted));
  }
  if (value === null || typeof value !== 'object') return value;
  return Object.fromEntries(
    Object.entries(value).map(([key, inner]) => [key, shortened(inner, path === '' ? key : `${path}.${key}`, omitted)]),
  );
}

interface Asking {
  url: string;
  method: string;
  address: string;
  body: string | null;
  contentType: string | null;
  credential: Captured['credential'];
  secret: string | null;
  /** Headers beside those. */
  headers?: Record<string, string>;
  /** Headers of the answer that are written down beside the usual ones. */
  alsoShown?: readonly string[];
}

async function ask({
  url,
  method,
  address,
  body,
  contentType,
  credential,
  secret,
  headers: sent,
  alsoShown = [],
}: Asking): Promise<Captured> {
  const response = await fetch(url + address, {
    method,
    headers: {
      accept: 'application/json',
      ...(secret === null ? {} : { authorization: `Bearer ${secret}` }),
      ...(contentType === null ? {} : { 'content-type': contentType }),
      ...sent,
    },
    body,
  });
  const omitted: Record<string, number> = {};
  // An unchanged answer (304) has no body.
  const answer = response.status === 304 ? null : shortened(await response.json(), '', omitted);
  const headers = Object.fromEntries(
    [...shownHeaders, ...alsoShown].flatMap((name) =>
      response.headers.has(name) ? [[name, response.headers.get(name)!]] : [],
    ),
  );
  return { method, address, body, credential, status: response.status, headers, answer, omitted };
}

async function captureRoutes(url: string, key: string, session: string): Promise<CapturedExamples['routes']> {
  const captured: Record<string, Captured> = {};
  let standing: Standing = standingAt(Date.parse(clock));
  for (const route of inOrderOfExamples(routes)) {
    const { name } = route;
    const byKey = !route.needs.endsWith('site-session');
    const { address, body, contentType } = shownRequest(route, standing);
    const found = await ask({
      url,
      method: route.method,
      address,
      body,
      contentType,
      credential: byKey ? 'key' : 'session',
      secret: byKey ? key : session,
    });
    if (found.status !== 200) throw new Error(`${name}: ${JSON.stringify(found)}`);
    const { data } = found.answer as { data: { id?: string; meta?: { id: string } } };
    if (name === 'create-key') standing = { ...standing, key: data.meta!.id };
    if (name === 'create-journal-trade') standing = { ...standing, trade: data.id! };
    captured[name] = found;
  }
  return Object.fromEntries(routes.map(({ name }) => [name, captured[name]!]));
}

async function captureFailures(url: string, key: string): Promise<CapturedExamples['failures']> {
  const plain = { url, method: 'GET', body: null, contentType: null, credential: 'key' as const, secret: key };
  const found = [
    await ask({ ...plain, address: '/v2/quotes?symbols=SPY%3BQQQ' }),
    await ask({ ...plain, address: '/v2/quotes?symbols=SPY', credential: 'none', secret: null }),
    await ask({ ...plain, address: '/v2/account/keys' }),
    await ask({ ...plain, address: '/v2/symbols/QQQQ' }),
    await ask({ ...plain, address: '/v2/quotes?symbols=SPY', method: 'POST' }),
    await ask({ ...plain, address: '/v2/watchlists/funds', method: 'PUT', body: 'name', contentType: 'text/plain' }),
  ];
  return Object.fromEntries(found.map((failure) => [failure.status, failure]));
}

/** The first event of each name that a stream sends at once, in the order of its topics, whichever came first. */
async function captureStream(url: string, key: string): Promise<CapturedExamples['stream']> {
  const address = `/v2/stream?topics=${streamTopics}`;
  const stop = new AbortController();
  const response = await fetch(url + address, { headers: { authorization: `Bearer ${key}` }, signal: stop.signal });
  setTimeout(() => stop.abort(), 5000);
  let text = '';
  try {
    for await (const chunk of response.body!.pipeThrough(new TextDecoderStream())) text += chunk;
  } catch {
    // The time is up.
  }
  const events = text.split('\n\n').flatMap((block) => {
    const line = (name: string) => new RegExp(`^${name}: ?(.*)$`, 'm').exec(block)?.[1];
    const data = line('data');
    if (data === undefined) return [];
    const omitted: Record<string, number> = {};
    return [
      { event: line('event') ?? '', id: line('id') ?? '', data: shortened(JSON.parse(data), '', omitted), omitted },
    ];
  });
  const topicOf = (event: string) => streamTopics.split(',').findIndex((topic) => topic.startsWith(`${event}:`));
  const names = [...new Set(events.map(({ event }) => event))].sort((a, b) => topicOf(a) - topicOf(b));
  return { address, events: names.map((name) => events.find(({ event }) => event === name)!) };
}

async function captureGuides(url: string, secrets: Record<'key' | 'session' | 'spent', string>): Promise<object> {
  const captured: Record<string, Captured> = {};
  let before: Captured | null = null;
  for (const [name, example] of Object.entries<GuideExample>(guideExamples)) {
    const { method, address, body, headers } = guideRequest(example, Date.parse(clock));
    const known = (text: string) =>
      text
        .replace('{cursor}', String((before?.answer as { meta?: { cursor?: string } })?.meta?.cursor))
        .replace('{etag}', String(before?.headers.etag));
    const { credential = 'key' } = example;
    const one = { url, method, address: known(address), body: body === '' ? null : body };
    before = await ask({
      ...one,
      contentType: body === '' ? null : 'application/json',
      credential: credential === 'session' ? 'session' : 'key',
      secret: secrets[credential],
      alsoShown: ['x-ratelimit-limit', 'x-ratelimit-remaining', 'x-ratelimit-reset'],
      headers: Object.fromEntries(Object.entries(headers).map(([header, text]) => [header, known(text)])),
    });
    captured[name] = before;
  }
  return captured;
}

/** A key of the free tier whose minute is used up. */
async function spentKey(url: string): Promise<string> {
  const run = (...args: string[]) =>
    JSON.parse(execFileSync(process.execPath, [main, ...args, '--json'], { env, encoding: 'utf8' }));
  run('account', 'set', 'spent', '--api-tier', 'free');
  const { key } = run('key', 'create', '--account', 'spent');
  const one = { url, method: 'GET', address: '/v2/account/usage', body: null, contentType: null };
  while ((await ask({ ...one, credential: 'key', secret: key })).status !== 429);
  return key;
}

function writeOrCheck(file: string, answers: object): void {
  const json = `${JSON.stringify(answers, null, 1)}\n`;
  if (!process.argv.includes('--check')) {
    writeFileSync(file, json);
    return;
  }
  const committed = comparableAnswers(readFileSync(file, 'utf8'), clock);
  const found = firstDifference(committed, comparableAnswers(json, clock));
  if (found === null) return;
  console.error(`${relative(root, file)} is out of date: ${found.before} is now ${found.after}`);
  console.error('node scripts/capture-examples.ts makes it again.');
  process.exitCode = 1;
}

async function served(server: ChildProcess): Promise<{ url: string; key: string }> {
  const [line] = await once(server.stdout!, 'data');
  const ready = JSON.parse(String(line));
  await untilLoaded(ready.url);
  return ready;
}

const main = join(root, 'src/main.ts');
const server = spawn(process.execPath, [main, 'serve', '--sample', '--port', '0', '--clock', clock, '--json'], {
  env,
  stdio: ['ignore', 'pipe', 'inherit'],
});
try {
  const { url, key } = await served(server);
  const made = ['session', 'create', '--account', 'sample', '--clock', clock, '--json'];
  const { token } = JSON.parse(execFileSync(process.execPath, [main, ...made], { env, encoding: 'utf8' }));
  const examples: CapturedExamples = {
    clock,
    routes: await captureRoutes(url, key, token),
    failures: await captureFailures(url, key),
    stream: await captureStream(url, key),
  };
  const secrets = { key, session: token, spent: await spentKey(url) };
  writeOrCheck(guideTarget, await captureGuides(url, secrets));
  writeOrCheck(target, examples);
  console.log(`${Object.keys(examples.routes).length} routes answered.`);
} finally {
  server.kill('SIGTERM');
  await once(server, 'exit');
  rmSync(folder, { recursive: true, force: true });
}
