import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { vendors } from '../../generated/intake/vendors.ts';
import { formatsOf, formatTables } from '../../scripts/generate/format-tables.ts';
import { vendorsModule } from '../../scripts/generate/modules.ts';
import { datasetNames } from '../../src/core/domain/dataset.ts';
import { ingestFiles } from '../../src/intake/ingest/ingest.ts';
import { storeForThisTest } from '../support/store.ts';
import { temporaryFolder } from '../support/temporary-folder.ts';

const folder = temporaryFolder();

describe('the formats', () => {
  test('of every dataset stand in docs/vendor-files.md, as the code prints them', () => {
    for (const [path, text] of formatTables()) expect(readFileSync(`docs/${path}`, 'utf8')).toBe(text.toString());
    const text = readFileSync('docs/vendor-files.md', 'utf8');
    for (const { name } of datasetNames.flatMap(formatsOf)) expect(text).toContain(`| \`${name}\` |`);
  });

  test('have a row with their columns for every dataset', () => {
    const text = readFileSync('docs/vendor-files.md', 'utf8');
    const table = text.slice(text.indexOf('## Datasets and their columns'), text.indexOf('## Every file'));
    expect([...table.matchAll(/^\| `([a-z-]+)` \| ./gm)].map(([, name]) => name).sort()).toEqual(
      [...datasetNames].sort(),
    );
  });

  test('of a vendor are one file in src/intake/tape/vendors, which the generated list has', () => {
    const files = readdirSync('src/intake/tape/vendors').filter((name) => name.endsWith('.ts'));
    expect(vendors).toHaveLength(files.length);
    for (const [path, text] of vendorsModule()) expect(readFileSync(`generated/${path}`, 'utf8')).toBe(text.toString());
    const names = vendors.flatMap(({ formats }) => formats.map(({ name }) => name));
    expect(new Set(names).size).toBe(names.length);
  });

  test.each(datasetNames)(
    '%s: a file that none fits is refused, and the reason names them and what was seen',
    async (dataset) => {
      const store = await storeForThisTest();
      const path = join(folder(), 'other.csv');
      writeFileSync(path, 'colour,shape\nred,round\n');
      const { files } = await ingestFiles(store, dataset, [path], { now: () => Date.parse('2026-11-18T00:00Z') });
      expect(files[0]!.status).toBe('refused');
      expect(files[0]!.reason).toContain('colour,shape');
      for (const { name, required } of formatsOf(dataset)) {
        expect(files[0]!.reason).toContain(name);
        for (const column of required) expect(files[0]!.reason).toContain(column);
      }
    },
  );

  test('of chains are recognized by how a file begins, whatever its name', async () => {
    const chain = JSON.stringify({
      timestamp: '2024-11-26 14:31:00',
      data: { options: [{ option: 'XYZ241220C00100000', bid: 5, ask: 5.2, open_interest: 9 }], current_price: 100 },
    });
    const store = await storeForThisTest();
    for (const [name, text, expected] of [
      ['page.csv', chain, { status: 'stored' }],
      ['page.json', 'colour,shape\n', { status: 'refused', reason: expect.stringContaining('exchange-page') }],
      ['other.json', '{"a": 1}', { status: 'refused', reason: expect.stringContaining('exchange-json') }],
    ] as const) {
      const path = join(folder(), name);
      writeFileSync(path, text);
      const { files } = await ingestFiles(store, 'chain', [path], { now: () => Date.parse('2026-11-18T00:00Z') });
      expect(files[0], name).toMatchObject(expected);
    }
  });
});
