import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { minuteMs } from '../../src/domain/units.ts';
import { datasets } from '../../src/ingest/datasets.ts';
import { ingestFiles } from '../../src/ingest/ingest.ts';
import { type Dataset, datasetNames, type Format, spellings } from '../../src/tape/formats/format.ts';
import { storeForThisTest } from '../support/store.ts';
import { temporaryFolder } from '../support/temporary-folder.ts';

const folder = temporaryFolder();

function rowOf(dataset: Dataset, { name, required, time, delayMs, symbols }: Format): string {
  const cells = [
    `\`${dataset}\``,
    `\`${name}\``,
    required.map((column) => `\`${column}\``).join(', '),
    time === null ? 'dates' : `\`${time.column}\`: ${time.unit}`,
    delayMs === 0 ? 'none' : `${delayMs / minuteMs} minutes`,
    symbols === null ? 'none' : `\`${symbols.column}\`: ${spellings[symbols.spelling]}`,
  ];
  return `| ${cells.join(' | ')} |`;
}

describe('the formats', () => {
  test('of every dataset stand in docs/vendor-files.md, as their entries are', () => {
    const text = readFileSync('docs/vendor-files.md', 'utf8');
    const table = text
      .slice(text.indexOf('## Formats'))
      .split('\n')
      .filter((line) => /^\| `/.test(line));
    const rows = datasetNames.flatMap((name) => datasets[name].formats.map((format) => rowOf(name, format)));
    expect(table.slice(0, rows.length)).toEqual(rows);
  });

  test('have a row with their columns for every dataset', () => {
    const text = readFileSync('docs/vendor-files.md', 'utf8');
    const table = text.slice(text.indexOf('## Datasets and their columns'), text.indexOf('## Every file'));
    expect([...table.matchAll(/^\| `([a-z-]+)` \| ./gm)].map(([, name]) => name).sort()).toEqual(
      [...datasetNames].sort(),
    );
  });

  test('are one file each below src/tape/formats', () => {
    const names = Object.values(datasets).flatMap(({ formats }) => formats.map(({ name }) => name));
    const text = readdirSync('src/tape/formats').map((file) => readFileSync(join('src/tape/formats', file), 'utf8'));
    for (const name of new Set(names))
      expect(
        text.filter((each) => each.includes(`name: '${name}'`)),
        name,
      ).toHaveLength(1);
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
      for (const { name, required } of datasets[dataset].formats) {
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
