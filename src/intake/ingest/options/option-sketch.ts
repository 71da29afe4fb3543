import { recordAt as at, isQuote, nanosOf, recordWidth as width } from '../../tape/prints/option-records.ts';
import { mixed, PrintSketch, textHash } from '../files/print-sketch.ts';

const minuteMs = 60_000;

/** The sketch of an underlying's session; adding records skips those of quotes. */
export interface OptionSketch {
  sketch: PrintSketch;
  add(records: Uint32Array): void;
}

/** Creates an empty sketch of contracts, which are identified by their ids. */
export function optionSketch(contracts: readonly string[], exact = false): OptionSketch {
  const hashes = new Uint32Array(contracts.length);
  const contractHash = (contract: number) => {
    if (hashes[contract] === 0) hashes[contract] = textHash(contracts[contract]!);
    return hashes[contract]!;
  };
  const sketch = new PrintSketch({ exact, contractHash });
  return {
    sketch,
    add(records) {
      // Reading the property for every record would cost as much as the rest; it becomes false once.
      let wantsPrints = sketch.wantsPrints;
      for (let i = 0; i < records.length; i += width) {
        const nanosAndCorrection = records[i + at.nanosAndCorrection]!;
        if (isQuote(nanosAndCorrection)) continue;
        const contract = records[i + at.contract]!;
        const ms = records[i + at.ms]!;
        sketch.count((ms / minuteMs) | 0, contract);
        if (!wantsPrints) continue;
        wantsPrints = sketch.wantsPrints;
        if (!wantsPrints) continue;
        const instant = mixed(mixed(contractHash(contract), ms), nanosOf(nanosAndCorrection));
        sketch.addPrint(mixed(instant, records[i + at.exchangeAndConditions]! & 0xffff));
      }
    },
  };
}
