import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { type Dataset, datasetContents, datasetNames } from '../../src/core/domain/dataset.ts';
import { chainFormats } from '../../src/intake/tape/chains/chain-file.ts';
import { vendorFormatsOf } from '../../src/intake/tape/csv/translate.ts';
import { type Format, spellings } from '../../src/intake/tape/formats/format.ts';
import { ownFormats } from '../../src/intake/tape/formats/own-formats.ts';
import { minuteMs } from '../../src/platform/runtime/clock.ts';
import type { GeneratedFiles } from './generated-files.ts';

const page = 'vendor-files.md';

/** The formats of a dataset's own columns. */
const ownFormatsOf = (dataset: Dataset) => ownFormats.filter(({ datasets }) => datasets.includes(dataset));

/** The formats of a dataset, its own first. */
export function formatsOf(dataset: Dataset): Format[] {
  return [...ownFormatsOf(dataset), ...(dataset === 'chain' ? chainFormats : vendorFormatsOf([dataset]))];
}

const code = (names: readonly string[]) => names.map((name) => `\`${name}\``).join(', ') || 'none';

function tableOf(heads: readonly string[], rows: readonly (readonly string[])[]): string {
  const line = (cells: readonly string[]) => `| ${cells.join(' | ')} |`;
  return [line(heads), `|${heads.map(() => '---').join('|')}|`, ...rows.map(line)].join('\n');
}

/** The columns that a dataset has by itself. */
function columnsTable(): string {
  const rows = datasetNames.map((dataset) => {
    const [first, ...others] = ownFormatsOf(dataset);
    const isLess = (name: string) => others.some(({ required }) => !required.includes(name));
    const { required, optional } = first ?? { required: [], optional: [] };
    const always = required.filter((name) => !isLess(name));
    const sometimes = [...required.filter(isLess), ...optional];
    return [`\`${dataset}\``, datasetContents[dataset], code(always), code(sometimes)];
  });
  return tableOf(['dataset', 'content', 'columns', 'optional columns'], rows);
}

function formatCells(dataset: Dataset, { name, required, time, delayMs, symbols }: Format): string[] {
  return [
    `\`${dataset}\``,
    `\`${name}\``,
    code(required),
    time === null ? 'dates' : `\`${time.column}\`: ${time.unit}`,
    delayMs === 0 ? 'none' : `${delayMs / minuteMs} minutes`,
    symbols === null ? 'none' : `\`${symbols.column}\`: ${spellings[symbols.spelling]}`,
  ];
}

/** The formats of all datasets. */
function formatsTable(): string {
  const rows = datasetNames.flatMap((dataset) => formatsOf(dataset).map((format) => formatCells(dataset, format)));
  return tableOf(['dataset', 'format', 'recognized by', 'time', 'delay', 'symbols'], rows);
}

/** A page with a table between its two marks. */
function withTable(text: string, name: string, table: string): string {
  const [begin, end] = [`<!-- ${name}: npm run generate -->\n`, `\n<!-- end of ${name} -->`];
  const [from, to] = [text.indexOf(begin), text.indexOf(end)];
  if (from < 0 || to < from) throw new Error(`docs/${page}: expected the marks of the table ${name}`);
  return `${text.slice(0, from + begin.length)}\n${table}\n${text.slice(to)}`;
}

/** docs/vendor-files.md with the tables of datasets and formats as the code has them. */
export function formatTables(): GeneratedFiles {
  const text = readFileSync(join(import.meta.dirname, '../../docs', page), 'utf8');
  const columns = withTable(text, 'columns', columnsTable());
  return new Map([[page, Buffer.from(withTable(columns, 'formats', formatsTable()))]]);
}
