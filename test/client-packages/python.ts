import { execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { notRunOutsideCi } from '../support/not-run.ts';

/** The package's folder. */
export const pythonPackage = join(import.meta.dirname, '../../clients/python');
const programs = join(import.meta.dirname, 'python');

const imports = (modules: string) => (program: string) => {
  try {
    execFileSync(program, ['-c', `import ${modules}`], { stdio: 'ignore' });
    return true;
  } catch {
    return false;
  }
};
const needed = 'httpx, pandas, mypy';

/** The first Python that has what the package's tests import: PYTHON, `python3`, Debian's. Null if none has. */
export const python: string | null =
  [process.env.PYTHON, 'python3', '/usr/bin/python3'].filter((path) => path !== undefined).find(imports(needed)) ??
  null;
if (python === null) notRunOutsideCi('tests of the Python package', `no Python has ${needed}`);

/** A run of Python in a folder, with this input and environment. */
export interface PythonRun {
  args: readonly string[];
  env?: Record<string, string>;
  input?: string;
}

/** Starts Python with the package on its path. */
export function startPython({ args, env = {}, input = '' }: PythonRun) {
  const child = spawn(python!, args, {
    cwd: pythonPackage,
    env: { ...process.env, PYTHONPATH: pythonPackage, PYTHONDONTWRITEBYTECODE: '1', ...env },
  });
  child.stdin.end(input);
  return child;
}

/** Runs Python to its end. Throws with what it wrote if it fails. */
export async function runPython(run: PythonRun): Promise<{ stdout: string; stderr: string }> {
  const child = startPython(run);
  const [stdout, stderr, [code]] = await Promise.all([text(child.stdout), text(child.stderr), once(child, 'close')]);
  if (code !== 0) throw new Error(`python ${run.args.join(' ')} ended with ${code}:\n${stdout}${stderr}`);
  return { stdout, stderr };
}

/** Path of a program of these tests. */
export const program = (name: string) => join(programs, name);
