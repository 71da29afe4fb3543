// `npm run check`: every check, one after the other; all of them run, and the exit code is 1 when any failed.
import { spawnSync } from 'node:child_process';
import { join } from 'node:path';

const checks = [
  { name: 'format and lint', command: 'biome check --error-on-warnings .' },
  { name: 'layers', command: 'node scripts/check-layers.ts' },
  { name: 'style', command: 'node scripts/check-style.ts' },
  { name: 'types', command: 'tsc --noEmit' },
  { name: 'types of browser code', command: 'tsc --noEmit --project tsconfig.browser.json' },
  { name: 'dead code', command: 'knip --no-progress' },
  { name: 'code that only tests call', command: 'knip --no-progress --production --tags=-testonly' },
  { name: 'generated files', command: 'node scripts/generate.ts --check' },
  { name: 'words of written dates', command: 'node scripts/generate-date-words.ts --check' },
  { name: 'install weight', command: 'node scripts/install-weight.ts' },
  { name: 'printed schema and routes', command: 'node scripts/print-schema.ts --check' },
];

const root = join(import.meta.dirname, '..');
// The dependencies' checkers, and the Node that runs TypeScript, from any working directory.
const path = [join(root, 'node_modules', '.bin'), process.env.PATH].join(process.platform === 'win32' ? ';' : ':');
const failed: string[] = [];
for (const { name, command } of checks) {
  console.log(`\n▶ ${name}: ${command}`);
  const { status } = spawnSync(command, {
    cwd: root,
    shell: true,
    stdio: 'inherit',
    env: { ...process.env, PATH: path },
  });
  if (status !== 0) failed.push(name);
}
console.log(failed.length === 0 ? `\nAll ${checks.length} checks passed.` : `\nFailed: ${failed.join(', ')}.`);
process.exitCode = failed.length === 0 ? 0 : 1;
