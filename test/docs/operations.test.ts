import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { importLimits } from '../../src/core/domain/journal.ts';
import { documentLimits } from '../../src/graphql/limits/document-limits.ts';
import { readConfig, variableNames } from '../../src/platform/config/config.ts';
import { describeConfig } from '../../src/platform/config/printed-settings.ts';

const text = readFileSync('docs/operations.md', 'utf8');
const rows = new Map(
  [...text.matchAll(/^\| `([A-Z_]+)` \|(.*?)\| (.+) \|$/gm)].map((row) => [row[1], row[2]!.replaceAll('`', '').trim()]),
);

describe('docs/operations.md', () => {
  it('lists every setting and no other', () => {
    expect([...rows.keys()].sort()).toEqual([...variableNames].sort());
  });

  it('tells the defaults that hold', () => {
    const defaults = describeConfig(readConfig({}));
    for (const [name, value] of Object.entries(defaults)) {
      if (name === 'TAPEGRAPH_DATA' || name === 'SOURCES') continue;
      expect(`${name}=${rows.get(name)}`).toBe(`${name}=${Array.isArray(value) ? value.join(',') : (value ?? '')}`);
    }
  });

  it('names the sizes of bodies that hold', () => {
    const inMebibytes = (bytes: number) => `${bytes / 2 ** 20} MiB`;
    expect(text).toContain(`| bodies of \`/graphql\` | ${inMebibytes(documentLimits.bytes)};`);
    const lines = importLimits.lines.toLocaleString('en-US');
    expect(text).toContain(`journal import ${inMebibytes(importLimits.bytes)} and ${lines} lines`);
  });
});
