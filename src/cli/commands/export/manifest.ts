import { existsSync } from 'node:fs';
import { readFile, rename, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { z } from 'zod';
import { productVersion } from '../../../platform/runtime/product-version.ts';
import type { ColumnType } from '../../../rest/contract/table.ts';

const exportedFile = z.object({
  path: z.string(),
  dataset: z.string(),
  date: z.string().nullable(),
  symbol: z.string().nullable(),
  rows: z.int().nonnegative(),
  bytes: z.int().nonnegative(),
  sha256: z.string().regex(/^[0-9a-f]{64}$/),
});

/** A file of a folder of exports. `path` is relative to the folder; null = it is of all dates, of all symbols. */
export type ExportedFile = z.infer<typeof exportedFile>;

const format = z.object({ version: z.literal(1), files: z.array(exportedFile) });

/** The list of a folder's files, with their checksums and columns: `manifest.json`. */
export class Manifest {
  readonly #file: string;
  readonly #folder: string;
  readonly #files: Map<string, ExportedFile>;

  private constructor(folder: string, files: readonly ExportedFile[]) {
    this.#folder = folder;
    this.#file = join(folder, 'manifest.json');
    this.#files = new Map(files.map((file) => [file.path, file]));
  }

  /** Reads that of a folder; empty if there is none. Throws if it is none that this version writes. */
  static async read(folder: string): Promise<Manifest> {
    const file = join(folder, 'manifest.json');
    if (!existsSync(file)) return new Manifest(folder, []);
    try {
      return new Manifest(folder, format.parse(JSON.parse(await readFile(file, 'utf8'))).files);
    } catch (error) {
      throw new Error(`${file} is not a manifest of tapegraph export; move it away, or name another folder`, {
        cause: error,
      });
    }
  }

  find(path: string): ExportedFile | undefined {
    return this.#files.get(path);
  }

  set(file: ExportedFile): void {
    this.#files.set(file.path, file);
  }

  /** Replaces the file on disk at once. Files that somebody has deleted are no longer listed. */
  async write({
    writtenAt,
    datasets,
  }: {
    writtenAt: string;
    datasets: Readonly<Record<string, Readonly<Record<string, ColumnType>>>>;
  }): Promise<void> {
    const files = [...this.#files.values()]
      .filter(({ path }) => existsSync(join(this.#folder, path)))
      .sort((a, b) => (a.path < b.path ? -1 : 1));
    const text = { version: 1, product_version: productVersion, written_at: writtenAt, datasets, files };
    const draft = `${this.#file}.partial`;
    await writeFile(draft, `${JSON.stringify(text, null, 1)}\n`, { flush: true });
    await rename(draft, this.#file);
  }
}
