import fc from 'fast-check';
import type { OptionPrint } from '../../../src/core/domain/market/print.ts';
import { contract, spyCall, type TapeRecord, tapeStart } from './option-tape.ts';

/** The contracts of the generated tapes: two underlyings, three roots. */
export const tapeContracts = [
  spyCall,
  contract('O:SPY240419P00500000'),
  contract('O:SPXW240419C05200000'),
  contract('O:SPX240621P05000000'),
];
const conditions = [[209], [209], [209], [219], [], [227], [232], [232], [233], [231], [204], [246], [248], [247]];

/** A tape in event-time order: prints and quotes close enough to sweep and spread, most large enough to be stored. */
export const tapes = fc
  .array(
    fc.record({
      stepMicros: fc.oneof(fc.integer({ min: 0, max: 60_000 }), fc.integer({ min: 0, max: 2_000_000 })),
      contract: fc.nat(tapeContracts.length - 1),
      quote: fc.boolean(),
      exchange: fc.constantFrom(302, 316, 322),
      price: fc.integer({ min: 90, max: 110 }),
      size: fc.integer({ min: 1, max: 3 }),
      conditions: fc.nat(conditions.length - 1),
    }),
    { minLength: 1, maxLength: 60 },
  )
  .map((steps) => {
    let micros = 0;
    return steps.map((step, i): TapeRecord => {
      micros += step.stepMicros;
      const common = {
        contract: tapeContracts[step.contract]!,
        tsMs: tapeStart + Math.floor(micros / 1000),
        tsNanos: (micros % 1000) * 1000,
        sequence: i + 1,
      };
      if (step.quote) return { ...common, bid: 9500 + (step.price % 5) * 100, ask: 10_000 + step.size * 100 };
      return {
        ...common,
        exchange: step.exchange,
        price: step.price * 100,
        size: step.size * 700,
        conditions: conditions[step.conditions]!,
        correction: 0,
      };
    });
  });

export const isPrint = (record: TapeRecord): record is OptionPrint => !('bid' in record);

/** Microseconds of a record. */
export const microsOf = (record: TapeRecord) => record.tsMs * 1000 + record.tsNanos / 1000;
