import type { ChainCapture } from '../../../src/core/domain/chain/chain.ts';
import { type ReadChains, readChains } from '../../../src/intake/tape/chains/chain-file.ts';

/** Reads a file with the chain of one underlying. */
export async function readChain(
  ...input: Parameters<typeof readChains>
): Promise<Omit<ReadChains, 'captures'> & { capture: ChainCapture }> {
  const { captures, ...read } = await readChains(...input);
  if (captures.length !== 1) throw new Error(`expected one chain, got ${captures.length}`);
  return { ...read, capture: captures[0]! };
}
