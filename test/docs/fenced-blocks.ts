import { globSync, readFileSync } from 'node:fs';

/** A fenced block of a document. */
export interface FencedBlock {
  /** Path and line, `docs/graph.md:14`. */
  place: string;
  path: string;
  language: string;
  source: string;
}

export const documents = globSync(['*.md', 'docs/**/*.md', 'clients/*/README.md']).sort();

/** The fenced blocks of a document. Throws for a fence without a language, and for one that is not closed. */
export function fencedBlocks(path: string, text = readFileSync(path, 'utf8')): FencedBlock[] {
  const blocks: FencedBlock[] = [];
  let open: FencedBlock | null = null;
  for (const [index, line] of text.split('\n').entries()) {
    const info = /^\s*(?:```|~~~)+(.*)$/.exec(line)?.[1]?.trim();
    if (info === undefined) {
      if (open) open.source += `${line}\n`;
    } else if (open && info === '') {
      blocks.push(open);
      open = null;
    } else if (open) {
      throw new Error(`${open.place}: the fence is not closed`);
    } else if (info === '') {
      throw new Error(`${path}:${index + 1}: the fence names no language`);
    } else {
      open = { place: `${path}:${index + 1}`, path, language: info, source: '' };
    }
  }
  if (open) throw new Error(`${open.place}: the fence is not closed`);
  return blocks;
}

/** The blocks of all documents. */
export const allBlocks = (): FencedBlock[] => documents.flatMap((path) => fencedBlocks(path));
