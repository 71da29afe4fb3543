import { describe, expect, test } from 'vitest';
import { developmentImports, productionPackages } from '../../scripts/install-weight.ts';

describe('install weight', () => {
  test('counts what production packages depend on, optional peers too, and no development package', () => {
    const packages = {
      '': { dependencies: { server: '1' }, devDependencies: { tests: '1' } },
      'node_modules/server': { dependencies: { shared: '1' }, peerDependencies: { generator: '1', absent: '1' } },
      'node_modules/server/node_modules/shared': { optionalDependencies: { native: '1' } },
      'node_modules/shared': {},
      'node_modules/native': { dependencies: { shared: '1' } },
      'node_modules/generator': {},
      'node_modules/tests': { dependencies: { runner: '1' } },
      'node_modules/runner': {},
    };
    expect(productionPackages(packages)).toEqual([
      'node_modules/generator',
      'node_modules/native',
      'node_modules/server',
      'node_modules/server/node_modules/shared',
      'node_modules/shared',
    ]);
  });

  test('names what the source imports at run time and only development installs', () => {
    const files = {
      'src/a.ts':
        "import 'node:fs';\nimport './b.ts';\nimport type { T } from 'types';\nimport { f } from 'server/part';\n",
      'src/b.ts': "export const late = () => import('@scope/tests/part');\n",
    };
    expect(developmentImports(files, ['server'])).toEqual([
      'src/b.ts imports @scope/tests, which is no production dependency',
    ]);
    expect(developmentImports(files, ['server', '@scope/tests'])).toEqual([]);
  });
});
