import { globSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { API } from 'typescript-compiler/unstable/sync';
import { randomOf } from '../../test/support/random.ts';
import { lineOf } from '../source-text.ts';
import { candidatesOf, type Edit } from './candidates.ts';

/** A change at one location of the source, in a form that can be printed and found again in another commit. */
export interface Mutation {
  /** `src/file.ts:12: before → after`. */
  id: string;
  area: string;
  kind: string;
  file: string;
  start: number;
  end: number;
  after: string;
  /** Texts around the location, each with its offset: its lines and one on both sides, its lines, its expression. */
  around: { text: string; at: number }[];
}

/** The parts of the source, and the share of each in 60 mutations. */
const areas: readonly { name: string; share: number; files: string[]; except?: RegExp }[] = [
  { name: 'resolvers', share: 11, files: ['src/resolvers/**/*.ts'] },
  { name: 'entitlement', share: 9, files: ['src/access/**/*.ts'], except: /^src\/access\/limits\// },
  { name: 'limits', share: 8, files: ['src/access/limits/**/*.ts', 'src/graphql/limits/**/*.ts'] },
  {
    name: 'codecs',
    share: 7,
    files: [
      'src/store/**/*{codec,-block,-blocks,-lines,copy-encoding}.ts',
      'src/store/{gex/captures,chain/chain-captures,chain/greeks,chain/open-interest,chain/option-bars}.ts',
    ],
  },
  { name: 'analytics', share: 12, files: ['src/core/analytics/**/*.ts'] },
  { name: 'ingest', share: 7, files: ['src/intake/ingest/**/*.ts'] },
  { name: 'contract', share: 3, files: ['src/rest/contract/**/*.ts'] },
  { name: 'domain', share: 3, files: ['src/core/domain/**/*.ts'] },
];

/** No file gets more than this, or the longest would get most. */
const mostOfFile = 2;

function shortened(text: string): string {
  const line = text.replace(/\s+/g, ' ');
  return line.length > 80 ? `${line.slice(0, 50)} … ${line.slice(-25)}` : line;
}

function mutationOf(area: string, file: string, text: string, edit: Edit): Mutation {
  const { start, end, after, kind, from, to } = edit;
  const lineBegin = (at: number) => text.lastIndexOf('\n', at - 1) + 1;
  const lineEnd = (at: number) => text.indexOf('\n', at);
  const spans: [number, number][] = [
    [lineBegin(lineBegin(start) - 1), lineEnd(lineEnd(end) + 1)],
    [lineBegin(start), lineEnd(end)],
    [from, to],
  ];
  const around = spans.map(([at, until]) => ({ text: text.slice(at, until), at }));
  const then = shortened(text.slice(from, start) + after + text.slice(end, to));
  const id = `${file}:${lineOf(text, start)}: ${shortened(text.slice(from, to))} → ${then}`;
  return { id, area, kind, file, start, end, after, around };
}

/** True if two mutations share a line, so that neither is found once the other is made. */
function overlap(a: Mutation, b: Mutation): boolean {
  const [ofA, ofB] = [a.around[0]!, b.around[0]!];
  return a.file === b.file && ofA.at < ofB.at + ofB.text.length && ofB.at < ofA.at + ofA.text.length;
}

/** The source in `root` as its compiler sees it. */
export function compilerOf(root: string) {
  const changed = new Map<string, string>();
  const api = new API({ cwd: root, fs: { readFile: (name) => changed.get(name) } });
  let [project] = api.updateSnapshot({ openProjects: [join(root, 'tsconfig.json')] }).getProjects();
  const update = (name: string) => {
    [project] = api.updateSnapshot({ fileChanges: { changed: [name] } }).getProjects();
  };
  return {
    candidates: (file: string) => candidatesOf(project!.program.getSourceFile(join(root, file))!),
    /** True if a file with this text has no type errors. */
    accepts(file: string, text: string): boolean {
      const name = join(root, file);
      changed.set(name, text);
      update(name);
      const errors = project!.program.getSemanticDiagnostics(name).length;
      changed.delete(name);
      update(name);
      return errors === 0;
    },
    close: () => api.close(),
  };
}

/**
 * 60 mutations of the source in `root`, the same ones for the same source and seed: for each a kind at random, then one
 * of that kind; one that does not type-check is replaced by the next.
 */
export function chooseMutations(root: string, seed: number): Mutation[] {
  const compiler = compilerOf(root);
  const random = randomOf(seed);
  const chosen: Mutation[] = [];
  for (const { name, share, files, except } of areas) {
    const paths = globSync(files, { cwd: root }).sort();
    const all = paths
      .filter((path) => !except?.test(path))
      .flatMap((file) => compiler.candidates(file).map((edit) => ({ file, edit })));
    const kinds = [...Map.groupBy(all, ({ edit }) => edit.kind).values()];
    for (let wanted = share; wanted > 0; ) {
      const candidates = random.pick(kinds);
      const [picked] = candidates.splice(random.below(candidates.length), 1);
      if (!picked || chosen.filter(({ file }) => file === picked.file).length === mostOfFile) continue;
      const { file, edit } = picked;
      const text = readFileSync(join(root, file), 'utf8');
      if (!compiler.accepts(file, text.slice(0, edit.start) + edit.after + text.slice(edit.end))) continue;
      const mutation = mutationOf(name, file, text, edit);
      if (chosen.some((other) => overlap(other, mutation))) continue;
      chosen.push(mutation);
      wanted--;
    }
  }
  compiler.close();
  return chosen;
}

/** The offset of a mutation in a text that may have changed since it was chosen: null if its location has. */
export function placeOf(text: string, { around, start }: Mutation): number | null {
  for (const each of around) {
    if (text.startsWith(each.text, each.at)) return start;
    const at = text.indexOf(each.text);
    if (at >= 0 && text.lastIndexOf(each.text) === at) return at + start - each.at;
  }
  return null;
}

/** The text with the mutation; null if its location has changed since it was chosen. */
export function mutated(text: string, mutation: Mutation): string | null {
  const at = placeOf(text, mutation);
  if (at === null) return null;
  return text.slice(0, at) + mutation.after + text.slice(at + mutation.end - mutation.start);
}
