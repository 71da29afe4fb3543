import type { TradedContract } from '../domain/contract-book.ts';
import { exchangeDate, type SessionDate } from '../domain/market-time.ts';
import { contractId } from '../domain/option-contract.ts';
import { underlyingOf } from '../domain/option-root.ts';
import { readCsv } from '../tape/csv.ts';
import { optionMinuteBars } from '../tape/option-bars.ts';
import type { OnBadLine, OnBytes } from '../tape/tape-file.ts';

/** A contract whose volume on the tape is not that of the day aggregates. */
export interface VolumeDifference {
  underlying: string;
  /** `O:` and the OSI symbol. */
  contract: string;
  /** Contracts; 0 = did not trade. */
  tape: number;
  dayAggregate: number;
}

/** Volumes of a session by contract (`O:…`), from day aggregate files. Throws `TapeFileError`. */
export async function readDayVolumes(
  paths: readonly string[],
  session: SessionDate,
  onBadLine: OnBadLine,
  onBytes: OnBytes,
): Promise<Map<string, number>> {
  const volumes = new Map<string, number>();
  for (const path of paths) {
    for await (const { records } of readCsv(path, optionMinuteBars, onBadLine, onBytes)) {
      for (const { contract, bar } of records) {
        if (exchangeDate(bar.tsMs) === session) volumes.set(contractId(contract), bar.volume);
      }
    }
  }
  return volumes;
}

/**
 * Where a tape and the day aggregates differ, among the contracts of the underlyings on the tape, by contract. A contract that either
 * does not name has a volume of 0 there.
 */
export function volumeDifferences(
  onTape: readonly { contract: TradedContract; volume: number }[],
  inAggregates: ReadonlyMap<string, number>,
): VolumeDifference[] {
  const tape = new Map(onTape.map(({ contract, volume }) => [contract.id, volume]));
  const underlyings = new Map(onTape.map(({ contract }) => [contract.contract.root, contract.underlying.symbol]));
  const symbols = new Set(underlyings.values());
  const differences: VolumeDifference[] = [];
  for (const contract of new Set([...tape.keys(), ...inAggregates.keys()])) {
    const root = contract.slice(2, -15);
    const underlying = underlyings.get(root) ?? underlyingOf(root);
    const difference = {
      underlying,
      contract,
      tape: tape.get(contract) ?? 0,
      dayAggregate: inAggregates.get(contract) ?? 0,
    };
    if (symbols.has(underlying) && difference.tape !== difference.dayAggregate) differences.push(difference);
  }
  return differences.sort((a, b) => (a.contract < b.contract ? -1 : 1));
}
