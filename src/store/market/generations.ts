import type {
  Generation,
  GenerationMaker,
  GenerationPart,
  GenerationSource,
  IngestedSource,
} from '../../core/domain/generation.ts';
import { anyOf } from '../rows/models/any-of.ts';
import { numbered } from '../rows/models/numbered-rows.ts';
import type { Row } from '../rows/models/row-values.ts';
import { upsertRows } from '../rows/models/sets.ts';
import type { Reader } from '../rows/reader.ts';
import type { Transaction } from '../rows/transaction.ts';

/** Rows that are written together. */
const rowsAtOnce = 500;

function rowOf(dataset: string, part: GenerationPart, source: GenerationSource): Row<'Generation'> {
  const { symbol, from: sessionDate, through: throughDate, instantMs } = part;
  const { made, files, live, ingestedMs, methodologyVersion, productVersion } = source;
  return {
    symbol,
    dataset,
    sessionDate,
    throughDate,
    instantMs,
    ingestedMs,
    supersededMs: null,
    made,
    files: files.map(({ name, sha256, lines }) => ({ name, sha256, lines })),
    liveSource: live?.source ?? null,
    fromLine: live?.fromLine ?? null,
    throughLine: live?.throughLine ?? null,
    methodologyVersion,
    productVersion,
  };
}

type StoredRow = Pick<Row<'Generation'>, keyof Row<'Generation'>>;

function generationOf(row: StoredRow): Generation {
  const { sessionDate: from, throughDate: through, liveSource, fromLine, throughLine, made, files, ...rest } = row;
  const live = liveSource === null ? null : { source: liveSource, fromLine: fromLine!, throughLine };
  return { ...rest, from, through, made: made as GenerationMaker, files: files as unknown as IngestedSource[], live };
}

/** Ends the generations of datasets that these parts are in force by: nothing is stored of them any more. */
export async function endGenerations(
  { prisma }: Transaction,
  datasets: readonly string[],
  parts: readonly GenerationPart[],
  endedMs: number,
): Promise<void> {
  for (const { symbol, from: sessionDate, through: throughDate, instantMs } of parts)
    await prisma.generation.updateMany({
      where: { symbol, dataset: anyOf(datasets), sessionDate, throughDate, instantMs, supersededMs: null },
      data: { supersededMs: Math.floor(endedMs) },
    });
}

/**
 * Notes what a transaction writes of parts of a dataset, and ends the generations of `datasets` whose sessions lie in
 * those of a part. The rows of these stay, as records.
 */
export async function saveGenerations(
  tx: Transaction,
  { dataset, superseded: datasets }: { dataset: string; superseded: readonly string[] },
  parts: readonly GenerationPart[],
  source: GenerationSource,
): Promise<void> {
  const alike = Map.groupBy(parts, ({ from, through, instantMs }) => `${from} ${through} ${instantMs}`);
  for (const group of alike.values()) {
    const { from, through, instantMs } = group[0]!;
    const span = { sessionDate: { gte: from, lte: through }, throughDate: { lte: through } };
    for (let start = 0; start < group.length; start += rowsAtOnce) {
      const some = group.slice(start, start + rowsAtOnce);
      const symbol = anyOf(some.map((part) => part.symbol));
      await tx.prisma.generation.updateMany({
        where: { symbol, dataset: anyOf(datasets), ...span, instantMs, supersededMs: null },
        data: { supersededMs: source.ingestedMs },
      });
      await upsertRows(
        tx,
        'Generation',
        some.map((part) => rowOf(dataset, part, source)),
      );
    }
  }
}

/** The generations of datasets that a symbol's session is in force by, ascending by when they were ingested. */
export async function generationsInForce(
  { prisma }: Pick<Reader, 'prisma'>,
  datasets: readonly string[],
  { symbol, from, through, instantMs }: GenerationPart,
): Promise<Generation[]> {
  const rows = await prisma.generation.findMany({
    where: {
      symbol,
      dataset: anyOf(datasets),
      supersededMs: null,
      sessionDate: { lte: through },
      throughDate: { gte: from },
      instantMs,
    },
    orderBy: { ingestedMs: 'asc' },
  });
  return rows.map(numbered).map(generationOf);
}

/** Symbols of which a generation of a live tape is open for a session. */
export async function openLiveSymbols(
  { prisma }: Transaction,
  { dataset, source, session }: { dataset: string; source: string; session: string },
  symbols: readonly string[],
): Promise<Set<string>> {
  const rows = await prisma.generation.findMany({
    where: { symbol: anyOf(symbols), dataset, sessionDate: session, liveSource: source, supersededMs: null },
    select: { symbol: true },
  });
  return new Set(rows.map(({ symbol }) => symbol));
}

/** When a live tape began a session, epoch ms; null = it has stored nothing of it that is in force. */
export async function liveBegunMs(
  { prisma }: Transaction,
  { source, session }: { source: string; session: string },
): Promise<number | null> {
  const { _min } = await prisma.generation.aggregate({
    where: { liveSource: source, sessionDate: session, supersededMs: null },
    _min: { ingestedMs: true },
  });
  return numbered(_min).ingestedMs;
}

/** Notes the last line that a live tape's session is from; null = more of it comes. Captures have their own lines. */
export async function saveLastLine(
  { prisma }: Transaction,
  { source, session }: { source: string; session: string },
  throughLine: number | null,
): Promise<void> {
  await prisma.generation.updateMany({
    where: { liveSource: source, sessionDate: session, instantMs: 0, supersededMs: null },
    data: { throughLine },
  });
}

/** Generations of parts in some datasets, those that are in force no longer among them; and a few near them. */
export async function readGenerations(
  { prisma }: Pick<Reader, 'prisma'>,
  keys: readonly (Omit<GenerationPart, 'instantMs'> & { datasets: readonly string[]; instantMs: number | null })[],
): Promise<Generation[]> {
  if (keys.length === 0) return [];
  const instants = keys.map(({ instantMs }) => instantMs);
  const first = keys.reduce((least, { from }) => (from < least ? from : least), keys[0]!.from);
  const last = keys.reduce((most, { through }) => (through > most ? through : most), keys[0]!.through);
  const rows = await prisma.generation.findMany({
    where: {
      symbol: anyOf(keys.map(({ symbol }) => symbol)),
      dataset: anyOf(keys.flatMap(({ datasets }) => datasets)),
      sessionDate: { lte: last },
      throughDate: { gte: first },
      ...(instants.includes(null) ? {} : { instantMs: anyOf(instants as number[]) }),
    },
    orderBy: [{ sessionDate: 'asc' }, { ingestedMs: 'asc' }],
  });
  return rows.map(numbered).map(generationOf);
}
