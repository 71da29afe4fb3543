import { contractId } from '../../../core/domain/chain/option-contract.ts';
import type { OptionRoots } from '../../../core/domain/chain/option-root.ts';
import type { InstantBounds } from '../../../core/domain/instant-gate.ts';
import type { SessionDate } from '../../../core/domain/market-time.ts';
import { optionMinuteBars } from '../../tape/chains/option-bars.ts';
import { dayBarDate } from '../../tape/csv/bar-lines.ts';
import { readCsv } from '../../tape/csv/csv.ts';
import { type OnBadLine, type OnBytes, TapeFileError } from '../../tape/csv/tape-file.ts';

/** A contract whose volume on the tape differs from the day aggregates. */
export interface VolumeDifference {
  underlying: string;
  /** `O:` and the OSI symbol. */
  contract: string;
  /** Contracts; 0 = did not trade. */
  tape: number;
  dayAggregate: number;
}

/** Volumes of a session's contracts (`O:…`) by underlying, from day aggregate files. Throws `TapeFileError`. */
export async function readDayVolumes(
  paths: readonly string[],
  session: SessionDate,
  { bounds, roots }: { bounds: InstantBounds; roots: OptionRoots },
  onBadLine: OnBadLine,
  onBytes: OnBytes,
): Promise<Map<string, Map<string, number>>> {
  const volumes = new Map<string, Map<string, number>>();
  for (const path of paths) {
    for await (const { records } of readCsv(path, [optionMinuteBars(bounds)], onBadLine, onBytes)) {
      for (const { contract, bar } of records) {
        if (dayBarDate(bar.tsMs) !== session) continue;
        const underlying = roots.of(contract.root, session).underlying;
        const known = volumes.get(underlying) ?? new Map<string, number>();
        if (known.size === 0) volumes.set(underlying, known);
        const id = contractId(contract);
        if (known.has(id) && known.get(id) !== bar.volume)
          throw new TapeFileError(
            path,
            `lines of one bar differ: ${id} on ${session}; expected one line per contract and day: bars of venues ` +
              'cannot be told from corrections here',
          );
        known.set(id, bar.volume);
      }
    }
  }
  return volumes;
}

/**
 * Differences by contract between the tape of an underlying and its day aggregates. A contract that one of them lacks
 * has a volume of 0 there.
 */
export function volumeDifferences(
  underlying: string,
  onTape: readonly { contract: string; volume: number }[],
  inAggregates: ReadonlyMap<string, number>,
): VolumeDifference[] {
  const tape = new Map(onTape.map(({ contract, volume }) => [contract, volume]));
  return [...new Set([...tape.keys(), ...inAggregates.keys()])]
    .map((contract) => ({
      underlying,
      contract,
      tape: tape.get(contract) ?? 0,
      dayAggregate: inAggregates.get(contract) ?? 0,
    }))
    .filter((difference) => difference.tape !== difference.dayAggregate)
    .sort((a, b) => (a.contract < b.contract ? -1 : 1));
}
