import type { Store } from '../rows/connection.ts';

/** Symbols with stored bars or captures, in order; not all of them need to be in the registry. */
export async function storedSymbols({ prisma }: Pick<Store, 'prisma'>): Promise<string[]> {
  const [bars, ...options] = await Promise.all([
    prisma.barBlock.groupBy({ by: ['symbol'] }),
    prisma.optionBarBlock.groupBy({ by: ['underlying'] }),
    prisma.chainCapture.groupBy({ by: ['underlying'] }),
    prisma.gexCapture.groupBy({ by: ['underlying'] }),
  ]);
  const all = [...bars.map(({ symbol }) => symbol), ...options.flat().map(({ underlying }) => underlying)];
  return [...new Set(all)].sort();
}
