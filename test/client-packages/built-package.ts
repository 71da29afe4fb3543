import { execFile } from 'node:child_process';
import { cpSync, mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';

const root = join(import.meta.dirname, '../..');

/** The folder of the TypeScript package. */
export const typescriptPackage = join(root, 'clients/typescript');

/** Builds the TypeScript package into the packages of a folder, as it is installed. */
export async function installBuiltPackage(folder: string): Promise<void> {
  const installed = join(folder, 'node_modules/tapegraph-client');
  mkdirSync(installed, { recursive: true });
  cpSync(join(typescriptPackage, 'package.json'), join(installed, 'package.json'));
  const options = ['--project', join(typescriptPackage, 'tsconfig.json'), '--outDir', join(installed, 'dist')];
  await promisify(execFile)(join(root, 'node_modules/.bin/tsc'), options);
}
