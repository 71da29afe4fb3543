#!/usr/bin/env node
// Runs src/main.ts on any Node from 20 on. TypeScript runs as it is from 23.6 on; an older Node hands over to the one
// that scripts/ready.mjs installs.
import { spawn } from 'node:child_process';
import { existsSync } from 'node:fs';
import * as nodeModule from 'node:module';
import { constants } from 'node:os';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

const self = fileURLToPath(import.meta.url);
const root = dirname(dirname(self));
const main = join(root, 'src/main.ts');
const args = process.argv.slice(2);

// What Node compiled is kept for the next start, without its types. Beside the packages: who may write here may change
// them too. Where it cannot be written, nothing is kept.
const compileCache = process.env.NODE_COMPILE_CACHE || join(root, 'node_modules/.cache/tapegraph');

function runsTypeScript() {
  const [major, minor] = process.versions.node.split('.').map(Number);
  return major > 23 || (major === 23 && minor >= 6);
}

/** The program file of the Node that scripts/ready.mjs installed; null when there is none for this platform. */
function installedNode() {
  const system = process.platform === 'win32' ? 'win' : process.platform;
  const file = process.platform === 'win32' ? 'bin/node.exe' : 'bin/node';
  return (
    [`node-${system}-${process.arch}`, `node-bin-${system}-${process.arch}`]
      .map((name) => join(root, 'scripts/node/node_modules', name, file))
      .find((program) => existsSync(program)) ?? null
  );
}

function handOver(program, programArgs, env) {
  const child = spawn(program, programArgs, { stdio: 'inherit', env });
  const signals = ['SIGINT', 'SIGTERM', 'SIGHUP'];
  // A terminal sends Ctrl-C to both processes, and a second signal makes the child leave at once. So SIGINT is passed on
  // only when no terminal does it.
  for (const signal of signals) {
    process.on(signal, () => {
      if (signal !== 'SIGINT' || !process.stdin.isTTY) child.kill(signal);
    });
  }
  child.on('error', (error) => {
    console.error(`tapegraph: ${program} cannot be run: ${error.message}`);
    process.exitCode = 1;
  });
  child.on('exit', (code, signal) => {
    process.exitCode = code ?? 128 + (constants.signals[signal] ?? 0);
  });
}

/** Whether somebody has chosen the size of the heap. */
const heapIsChosen = () =>
  [...process.execArgv, ...(process.env.NODE_OPTIONS ?? '').split(' ')].some((option) =>
    /^--max[-_]old[-_]space[-_]size/.test(option),
  );

// Commands that read whole files.
const fileReaders = ['ingest', 'reconcile', 'recompute'];

/** Runs the command in this process's place, or, where a system has no way to do that, below it. */
function replaceBy(options) {
  const programArgs = [...process.execArgv, ...options, main, ...args];
  if (process.execve && process.platform !== 'win32')
    process.execve(process.execPath, [process.execPath, ...programArgs], process.env);
  else handOver(process.execPath, programArgs, process.env);
}

if (!runsTypeScript()) {
  const program = installedNode();
  // The other one ends when this one does, however (src/cli/io/launcher.ts).
  if (program !== null) handOver(program, [self, ...args], { ...process.env, TAPEGRAPH_LAUNCHER: String(process.pid) });
  else {
    console.error(`tapegraph: this is Node ${process.versions.node}; run node scripts/ready.mjs here, or use Node 24.`);
    process.exitCode = 1;
  }
} else {
  nodeModule.enableCompileCache(compileCache);
  // For the processes that the command starts.
  process.env.NODE_COMPILE_CACHE = compileCache;
  // Threads share two arenas of the C library's memory: eight a processor keep what was freed in one from the others.
  process.env.MALLOC_ARENA_MAX ||= '2';
  // What is larger goes back to the system when it is freed. Unless it is set, the C library raises this to as much as
  // 32 MB, and keeps the pages of what was freed.
  process.env.MALLOC_MMAP_THRESHOLD_ ||= '131072';
  if (fileReaders.includes(args[0]) && !heapIsChosen()) {
    const { fileReaderOptions } = await import('../src/platform/runtime/memory-plan.ts');
    replaceBy(fileReaderOptions);
  } else await import('../src/main.ts');
}
