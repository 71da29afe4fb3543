import { spawnSync } from 'node:child_process';
import { copyFileSync, globSync, mkdirSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { delimiter, dirname, join, sep } from 'node:path';
import type { GeneratedFiles } from './generated-files.ts';

const root = join(import.meta.dirname, '../..');

// For browsers; nothing imports them.
const unused = ['store/browser.ts', 'store/internal/prismaNamespaceBrowser.ts'];

/** Comments of whole lines: two fifths of the client, the same for every model. */
const docComments = /^[ \t]*\/\*\*[\s\S]*?\*\/\n/gm;

function generate(folder: string): void {
  mkdirSync(join(folder, 'prisma'));
  copyFileSync(join(root, 'prisma/schema.prisma'), join(folder, 'prisma/schema.prisma'));
  const program = join(root, 'node_modules/prisma-cli/build/index.js');
  const { status, stdout, stderr } = spawnSync(
    process.execPath,
    [program, 'generate', '--schema', join(folder, 'prisma/schema.prisma')],
    {
      cwd: root,
      encoding: 'utf8',
      env: {
        ...process.env,
        // Our generator runs by this Node.
        PATH: [dirname(process.execPath), process.env.PATH].join(delimiter),
        // The generator wants a schema engine, which it does not use: any program will do, and nothing is downloaded.
        PRISMA_SCHEMA_ENGINE_BINARY: process.execPath,
        CHECKPOINT_DISABLE: '1',
        PRISMA_HIDE_UPDATE_MESSAGE: '1',
      },
    },
  );
  if (status !== 0) throw new Error(`prisma generate failed.\n${stdout}${stderr}`);
}

/** Prisma's client and the tables of `prisma/schema.prisma`, without what only documents them. */
export function storeClient(): GeneratedFiles {
  const folder = mkdtempSync(join(tmpdir(), 'tapegraph-client-'));
  try {
    generate(folder);
    const generated = join(folder, 'generated');
    const files = globSync('**/*.ts', { cwd: generated }).map((file) => file.split(sep).join('/'));
    return new Map(
      files
        .filter((file) => !unused.includes(file))
        .map((file) => [file, Buffer.from(readFileSync(join(generated, file), 'utf8').replaceAll(docComments, ''))]),
    );
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}
