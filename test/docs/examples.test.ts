import { readdirSync } from 'node:fs';
import { basename, join } from 'node:path';
import { expect, test } from 'vitest';
import { type Dataset, datasetNames } from '../../src/core/domain/dataset.ts';
import { ingestFiles } from '../../src/intake/ingest/ingest.ts';
import { storeForThisTest } from '../support/store.ts';

const folder = join(import.meta.dirname, '../../docs/examples');
const files = readdirSync(folder).filter((name) => name.endsWith('.csv'));

test.each(files)('%s is a file of the dataset that it is named after', async (name) => {
  const dataset = basename(name, '.csv') as Dataset;
  expect(datasetNames).toContain(dataset);
  const store = await storeForThisTest();
  const report = await ingestFiles(store, dataset, [join(folder, name)], {
    now: () => Date.parse('2026-11-20T17:00Z'),
  });
  expect(report.files).toMatchObject([{ status: 'stored', badLines: [] }]);
});
