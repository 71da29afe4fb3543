#!/usr/bin/env node
// Runs src/main.ts on any Node from 20 on. TypeScript runs as it is from 23.6 on; an older Node hands over to the one
// that comes with the dependencies.
import { spawn } from 'node:child_process';
import { existsSync } from 'node:fs';
import { createRequire } from 'node:module';
import { constants } from 'node:os';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

const main = fileURLToPath(new URL('../src/main.ts', import.meta.url));

function runsTypeScript() {
  const [major, minor] = process.versions.node.split('.').map(Number);
  return major > 23 || (major === 23 && minor >= 6);
}

/** The program file of the Node that came with the dependencies; null when there is none for this platform. */
function bundledNode() {
  const require = createRequire(import.meta.url);
  const file = process.platform === 'win32' ? 'bin/node.exe' : 'bin/node';
  for (const name of ['node', 'node-bin']) {
    try {
      const manifest = require.resolve(
        `${name}-${process.platform === 'win32' ? 'win' : process.platform}-${process.arch}/package.json`,
      );
      const program = join(dirname(manifest), file);
      if (existsSync(program)) return program;
    } catch {
      // Not installed under this name.
    }
  }
  return null;
}

function handOver(program) {
  const child = spawn(program, [main, ...process.argv.slice(2)], { stdio: 'inherit' });
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

if (runsTypeScript()) {
  await import(new URL('../src/main.ts', import.meta.url).href);
} else {
  const program = bundledNode();
  if (program !== null) handOver(program);
  else {
    console.error(`tapegraph: this is Node ${process.versions.node}; run npm ci here, or use Node 24.`);
    process.exitCode = 1;
  }
}
