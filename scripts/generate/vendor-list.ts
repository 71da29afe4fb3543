import { readdirSync } from 'node:fs';
import { basename, join } from 'node:path';
import { formatted } from './formatted.ts';
import type { GeneratedFiles } from './generated-files.ts';

const folder = join(import.meta.dirname, '../../src/tape/vendors');

/** The list of the vendors: every file of their folder exports one by its own name. */
export function vendorList(): GeneratedFiles {
  const files = readdirSync(folder).filter((name) => name.endsWith('.ts'));
  const names = files.map((name) => basename(name, '.ts')).toSorted();
  const text = [
    '// Made by `npm run generate` of the files in src/tape/vendors. Do not edit.',
    "import type { Vendor } from '../../src/tape/formats/vendor.ts';",
    ...names.map((name) => `import { ${name} } from '../../src/tape/vendors/${name}.ts';`),
    '',
    '/** The vendors, by name. */',
    `export const vendors: readonly Vendor[] = [${names.join(', ')}];`,
  ];
  return new Map([['tape/vendors.ts', formatted(`${text.join('\n')}\n`)]]);
}
