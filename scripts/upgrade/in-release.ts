// Runs in a process of its own: node in-release.ts FOLDER, with `Steps` as JSON on stdin. Runs command lines of the
// release in FOLDER one after the other, without a start of Node for each, and prints their results as a JSON array.
import { join } from 'node:path';
import { Writable } from 'node:stream';
import { text } from 'node:stream/consumers';
import { pathToFileURL } from 'node:url';
import type { Steps } from './fill.ts';

const folder = process.argv[2]!;
const { env, nowMs, shape, commands } = JSON.parse(await text(process.stdin)) as Steps;
const now = () => nowMs;
const load = (path: string) => import(pathToFileURL(join(folder, 'src', path)).href);

async function run(args: readonly string[]): Promise<unknown> {
  const written = { stdout: '', stderr: '' };
  const into = (name: keyof typeof written) =>
    new Writable({
      write(chunk, _encoding, done) {
        written[name] += chunk;
        done();
      },
    });
  const interrupted = new AbortController().signal;
  const terminal = { env, now, stdout: into('stdout'), stderr: into('stderr'), interrupted };
  const code = await (await load('cli/run.ts')).run([...args, '--json'], terminal);
  if (code !== 0) throw new Error(`tapegraph ${args.join(' ')} ended with ${code}: ${written.stderr}`);
  return JSON.parse(written.stdout);
}

async function openStore(): Promise<{ close(): Promise<void> }> {
  const dataDir = env.TAPEGRAPH_DATA!;
  const store = await (await load('store/connection.ts')).openStore({ databaseUrl: env.DATABASE_URL ?? null, dataDir });
  if (shape === null) return store;
  await (await load('ingest/starter-registry.ts')).ensureStarterRegistry(store, now);
  await (await load('ingest/sample-market.ts')).ensureSampleMarket(store, { dataDir, now, shape });
  return store;
}

// Open until the end: the embedded server does not start and stop with every command.
const store = await openStore();
const results: unknown[] = [];
for (const args of commands) results.push(await run(args));
await store.close();
process.stdout.write(JSON.stringify(results), () => process.exit(0));
