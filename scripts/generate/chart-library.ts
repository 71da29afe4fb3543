import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import type { GeneratedFiles } from './generated-files.ts';

/** The one file of ECharts that pages load, as its package holds it. */
export function chartLibrary(): GeneratedFiles {
  const packaged = createRequire(import.meta.url).resolve('echarts/dist/echarts.esm.min');
  return new Map([['pages/echarts.esm.min.mjs', readFileSync(packaged)]]);
}
