import { existsSync, readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { folders, rooms } from '../../scripts/layer-rules.ts';
import { guideFiles } from './guide-example.ts';

const text = readFileSync('docs/architecture.md', 'utf8');

describe('scripts/layer-rules.ts', () => {
  it('names folders that are there, and neighbours that they have', () => {
    const named = Object.entries(folders).flatMap(([room, held]) =>
      Object.entries(held).flatMap(([folder, ties]) => [folder, ...ties].map((name) => `src/${room}/${name}`)),
    );
    expect(named.filter((path) => !existsSync(path))).toEqual([]);
  });
});

describe('docs/architecture.md', () => {
  it('names the folders and what each may import, as the check holds it', () => {
    for (const [folder, allowed] of Object.entries(rooms)) {
      if (allowed === '*' || folder.endsWith('.ts')) continue;
      expect(text).toMatch(new RegExp(`^\\| \`${folder}/\` \\| .* \\| ${allowed.join(', ') || '–'} \\|$`, 'm'));
    }
  });

  it('names files and folders that are there', () => {
    const paths = [...text.matchAll(/`((?:src\/)?[a-z-]+(?:\/[\w-]+)*(?:\/|\.(?:ts|graphql)))`/g)].map(
      (match) => match[1]!,
    );
    expect(paths.length).toBeGreaterThan(30);
    const isThere = (path: string) =>
      ['', 'src/', 'src/rest/contract/', 'src/rest/', 'src/graphql/'].some(
        (at) => existsSync(at + path) || guideFiles.includes(at + path),
      );
    const relative = new Set(['history.graphql', 'media.ts', 'http/respond.ts', 'client/', 'admission.ts']);
    expect(paths.filter((path) => !relative.has(path) && !isThere(path))).toEqual([]);
  });

  it('names the subjects that rooms are cut by', () => {
    // The folders that both rooms have: those that only one has hold how it works.
    const shared = Object.keys(folders.store!).filter((name) => name in folders.schema!);
    expect(shared).toHaveLength(7);
    for (const subject of shared) expect(text).toContain(`| \`${subject}\` |`);
  });
});
