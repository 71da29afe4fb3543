import { closeSync, fstatSync, openSync, readdirSync, readFileSync, realpathSync, statSync } from 'node:fs';
import { basename, extname, join, sep } from 'node:path';
import { FileProblem, Problems, RoutesError } from './problems.ts';

/** A file of the folder as it was read. */
export interface SourceFile {
  /** Name in the folder. */
  name: string;
  text: string;
}

/** The texts of a folder of routes: what every process of a server compiles, whenever it does. */
export interface RouteFiles {
  /** Documents of operations, `name.graphql`. */
  documents: readonly SourceFile[];
  /** JSON files: the settings of the documents of the same names, and manifests of trusted documents. */
  json: readonly SourceFile[];
}

/** Limits of a folder. */
export const folderLimits = {
  files: 2000,
  /** Bytes of a document, and of its settings. */
  fileBytes: 256 * 1024,
  /** Bytes of a manifest, which holds many documents. */
  manifestBytes: 8 * 1024 * 1024,
  /** Bytes of all files. */
  bytes: 32 * 1024 * 1024,
} as const;

const nameForm = /^[a-z][a-z0-9-]{0,49}$/;

/** The name of a file without its extension. */
export const nameOf = (file: string): string => basename(file, extname(file));

const inWords = (bytes: number) => `${bytes.toLocaleString('en-US')} bytes`;

/** Reads a regular file of at most `most` bytes whose links, if any, stay within the folder. */
function readWithin(folder: string, name: string, most: number): SourceFile {
  const path = realpathSync(join(folder, name));
  if (!path.startsWith(folder + sep)) throw new FileProblem('is a link to a file outside of the folder');
  // Opening a pipe would wait for its writer.
  if (!statSync(path).isFile()) throw new FileProblem('is not a regular file');
  const file = openSync(path, 'r');
  try {
    const { size } = fstatSync(file);
    if (size > most) throw new FileProblem(`has ${inWords(size)}; at most ${inWords(most)}`);
    const text = new TextDecoder('utf-8', { fatal: true }).decode(readFileSync(file));
    return { name, text };
  } catch (error) {
    throw error instanceof TypeError ? new FileProblem('is not UTF-8 text') : error;
  } finally {
    closeSync(file);
  }
}

/** Names of the files to read: hidden ones, which editors and mounted volumes leave, are no routes. */
function filesIn(folder: string, problems: Problems): string[] {
  const entries = readdirSync(folder, { withFileTypes: true }).filter(({ name }) => !name.startsWith('.'));
  return entries.flatMap((entry) => {
    const { name } = entry;
    if (entry.isDirectory()) problems.found.push({ file: name, line: null, reason: 'is a folder; routes lie in one' });
    else if (/\.(gql|graphqls|jsonc|json5|ya?ml)$/i.test(name))
      problems.found.push({ file: name, line: null, reason: 'expected the extension .graphql or .json' });
    return ['.graphql', '.json'].includes(extname(name)) ? [name] : [];
  });
}

function realFolder(folder: string): string {
  try {
    return realpathSync(folder);
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    throw new RoutesError([{ file: folder, line: null, reason: code === 'ENOENT' ? 'no such folder' : String(error) }]);
  }
}

/** An error of the system about a file, in words. */
function readable<T>(read: () => T): T {
  try {
    return read();
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    throw code === undefined ? error : new FileProblem(`cannot be read: ${code}`);
  }
}

/** Reads the files of a folder. Throws `RoutesError` that names those that cannot be read. */
export function readRouteFiles(folder: string): RouteFiles {
  const problems = new Problems();
  const real = realFolder(folder);
  if (!statSync(real).isDirectory()) throw new RoutesError([{ file: folder, line: null, reason: 'is not a folder' }]);
  const names = filesIn(real, problems).sort();
  if (names.length > folderLimits.files) {
    const reason = `holds ${names.length} files; at most ${folderLimits.files}`;
    throw new RoutesError([{ file: folder, line: null, reason }]);
  }
  const documented = new Set(names.filter((name) => extname(name) === '.graphql').map(nameOf));
  let bytes = 0;
  const files = names.flatMap((name) => {
    const read = problems.of(name, () => {
      const isManifest = extname(name) === '.json' && !documented.has(nameOf(name));
      if (!isManifest && (!nameForm.test(nameOf(name)) || nameOf(name) in {}))
        throw new FileProblem('expected a name of lower-case letters, digits and hyphens, such as gamma-day.graphql');
      const most = isManifest ? folderLimits.manifestBytes : folderLimits.fileBytes;
      const file = readable(() => readWithin(real, name, most));
      bytes += file.text.length;
      if (bytes > folderLimits.bytes)
        throw new FileProblem(`with it the folder has over ${inWords(folderLimits.bytes)}`);
      return file;
    });
    return read ? [read] : [];
  });
  problems.requireNone();
  const isDocument = ({ name }: SourceFile) => extname(name) === '.graphql';
  return { documents: files.filter(isDocument), json: files.filter((file) => !isDocument(file)) };
}
