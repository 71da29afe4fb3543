import { execFile } from 'node:child_process';
import { existsSync, mkdirSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';

const root = join(import.meta.dirname, '../..');
const run = promisify(execFile);

/** Installs the packages of this folder where they are missing or stale; `npm test` has done so already. */
export async function installPackages(): Promise<void> {
  await run(process.execPath, [join(root, 'scripts/ready.mjs'), 'test/clients'], { cwd: root });
}

/** An empty folder from which files find the packages of this one, and then those of the project. */
export function generatedFolder(name: string): string {
  const folder = join(import.meta.dirname, 'generated', name);
  rmSync(folder, { recursive: true, force: true });
  mkdirSync(folder, { recursive: true });
  return folder;
}

/** A folder of programs in `folder`, for a path: DuckDB's command line, which is not on npm as its engine is. */
export function programsFolder(folder: string): string {
  const bin = join(folder, 'bin');
  const reader = join(import.meta.dirname, 'read-parquet.mjs');
  mkdirSync(bin, { recursive: true });
  writeFileSync(join(bin, 'duckdb'), `#!/bin/sh\nexec "${process.execPath}" "${reader}" duckdb "$2"\n`, {
    mode: 0o755,
  });
  return bin;
}

/** Output of a program of this folder. */
export async function runProgram(name: string, ...args: string[]): Promise<string> {
  const { stdout } = await run(process.execPath, [join(import.meta.dirname, name), ...args], { maxBuffer: 2 ** 26 });
  return stdout;
}

/** Errors of the type checker of TypeScript 5, which most clients have, for files; '' if there are none. */
export async function typeErrors(files: readonly string[]): Promise<string> {
  const program = join(import.meta.dirname, 'node_modules/typescript/bin/tsc');
  if (!existsSync(program)) throw new Error('The packages of test/clients are not installed.');
  const options = '--noEmit --strict --target es2024 --lib es2024,dom,dom.iterable,dom.asynciterable --module nodenext';
  const further = '--noUncheckedIndexedAccess --exactOptionalPropertyTypes --allowImportingTsExtensions --skipLibCheck';
  const args = [program, ...`${options} ${further} --types node`.split(' '), ...files];
  try {
    await run(process.execPath, args, { cwd: root });
    return '';
  } catch (error) {
    return String((error as { stdout: string }).stdout);
  }
}
