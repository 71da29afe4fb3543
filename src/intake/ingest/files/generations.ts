import { methodologyVersion } from '../../../core/analytics/methodology.ts';
import type { Dataset } from '../../../core/domain/dataset.ts';
import type { GenerationPart, GenerationSource, IngestedSource } from '../../../core/domain/generation.ts';
import { productVersion } from '../../../platform/runtime/product-version.ts';
import { endGenerations, generationsInForce, saveGenerations } from '../../../store/market/generations.ts';
import type { Transaction } from '../../../store/rows/transaction.ts';
import type { FileResult } from './file-job.ts';

/** Datasets of generations: those of files, and minute solves, which a tape makes and `recompute` makes again. */
export type GenerationDataset = Dataset | 'greeks';

/** Datasets whose generations one takes the place of beside those of its own. */
const replaced: Partial<Record<GenerationDataset, readonly GenerationDataset[]>> = {
  'stock-trades': ['stock-minute-bars', 'stock-day-bars'],
  'option-trades': ['option-minute-bars', 'greeks'],
};

/** Notes what a transaction writes of a dataset, and from what, by the definitions and the program of today. */
export async function noteGenerations(
  tx: Transaction,
  dataset: GenerationDataset,
  parts: readonly GenerationPart[],
  source: Omit<GenerationSource, 'methodologyVersion' | 'productVersion'>,
): Promise<void> {
  const superseded = [dataset, ...(replaced[dataset] ?? [])];
  const ingestedMs = Math.floor(source.ingestedMs);
  const made = { ...source, ingestedMs, methodologyVersion, productVersion };
  await saveGenerations(tx, { dataset, superseded }, parts, made);
}

/** A file, with what was written from it. */
export type WrittenFile = Pick<FileResult, 'written' | 'remade' | 'isJoined' | 'beside'> & { source: IngestedSource };

const keyOf = ({ symbol, from, through, instantMs }: GenerationPart) => `${symbol} ${from} ${through} ${instantMs}`;

/** Files with those before them, each content once. */
const joined = (files: readonly IngestedSource[]) => [
  ...new Map(files.map((file) => [file.sha256 ?? file.name, file])).values(),
];

/**
 * Notes what was written from files. A part that is in several of them is of all; one that was joined with what was
 * stored is of the files of that too.
 */
export async function noteFileGenerations(
  tx: Transaction,
  dataset: Dataset,
  files: readonly WrittenFile[],
  how: Pick<GenerationSource, 'made' | 'ingestedMs'>,
): Promise<void> {
  const parts = new Map<string, { part: GenerationPart; of: number[]; isJoined: boolean }>();
  for (const [i, { written = [], isJoined = false }] of files.entries()) {
    for (const part of written) {
      const known = parts.get(keyOf(part)) ?? { part, of: [], isJoined };
      known.of.push(i);
      parts.set(keyOf(part), known);
    }
  }
  for (const { source, remade = [] } of files)
    for (const { part, files: stored, hasFile } of remade)
      if (hasFile === null) await endGenerations(tx, [dataset], [part], how.ingestedMs);
      else
        await noteGenerations(tx, dataset, [part], {
          ...how,
          live: null,
          files: joined(hasFile ? [...stored, source] : stored),
        });
  for (const alike of Map.groupBy(parts.values(), ({ of, isJoined }) => `${of} ${isJoined}`).values()) {
    const { of, isJoined } = alike[0]!;
    const own = of.map((i) => files[i]!.source);
    const given = joined([...own, ...of.flatMap((i) => files[i]!.beside ?? [])]);
    const note = (some: GenerationPart[], sources: IngestedSource[]) =>
      noteGenerations(tx, dataset, some, { ...how, files: sources, live: null });
    if (!isJoined)
      await note(
        alike.map(({ part }) => part),
        given,
      );
    else
      for (const { part } of alike) {
        const before = await generationsInForce(tx, [dataset], part);
        await note([part], joined([...before.flatMap((each) => each.files), ...given]));
      }
  }
}
