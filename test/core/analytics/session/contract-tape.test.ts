import fc from 'fast-check';
import { expect, test } from 'vitest';
import type { FlowChange } from '../../../../src/core/analytics/flow/flow-changes.ts';
import { ContractTape } from '../../../../src/core/analytics/session/contract-tape.ts';
import type { FlowEvent } from '../../../../src/core/domain/flow/flow.ts';
import type { OptionPrint } from '../../../../src/core/domain/market/print.ts';
import { contract, runTape, spyCall, tapeSession, tapeStart } from '../../../support/tapes/option-tape.ts';

const contracts = [spyCall, contract('O:SPY240419P00500000'), contract('O:SPY240621C00530000')];
const conditions = [[209], [209], [219], [], [227], [232], [232], [233], [204], [246], [248], [247], [201], [201, 209]];

/** Prints of one underlying in event-time order, numbered by contract, many of one instant; some cancel others. */
const prints = fc
  .array(
    fc.record({
      stepMicros: fc.oneof(fc.constantFrom(0, 0, 300), fc.nat(60_000), fc.nat(2_000_000), fc.nat(90_000_000)),
      contract: fc.nat(contracts.length - 1),
      exchange: fc.constantFrom(302, 316),
      price: fc.constantFrom(9000, 10_000, 11_000),
      size: fc.constantFrom(700, 1400),
      conditions: fc.constantFrom(...conditions),
      correction: fc.constantFrom(0, 0, 0, 0, 0, 0, 1, 8, 12),
    }),
    { minLength: 1, maxLength: 80 },
  )
  .map((steps) => {
    let micros = 0;
    const numbers = contracts.map(() => 0);
    return steps.map(({ stepMicros, contract, ...print }): OptionPrint => {
      micros += stepMicros;
      return {
        ...print,
        contract: contracts[contract]!,
        tsMs: tapeStart + Math.floor(micros / 1000),
        tsNanos: (micros % 1000) * 1000,
        sequence: ++numbers[contract]!,
      };
    });
  });

const coverage = {
  status: 'eod_reconciled',
  complete: true,
  sessionDate: tapeSession,
  observedFromMs: 0,
  observedThroughMs: 0,
  registryVersion: 1,
  standardMultiplierAssumed: true,
} as const;

const byId = (events: FlowEvent[]) => events.sort((a, b) => (a.eventId < b.eventId ? -1 : 1));

/** Events and bars that the tape in event time makes of prints. */
function inEventTime(records: readonly OptionPrint[]) {
  const { events, tape } = runTape(records, { holdMs: 0 });
  const bars = tape.bars.takeChanged().map(({ contract }) => [contract.id, tape.bars.minutes(contract)]);
  return { events: byId(events), bars, tape };
}

/** Events and bars that the tape by contract makes of them. */
function byContract(records: readonly OptionPrint[], order: readonly number[]) {
  const changes: FlowChange[] = [];
  const bars: unknown[][] = [];
  const tape = new ContractTape({
    session: tapeSession,
    onChange: (change) => changes.push(change),
    onBars: ({ id }, minutes) => bars.push([id, minutes]),
  });
  for (const index of order)
    for (const print of records) if (print.contract === contracts[index]) tape.print({ ...print });
  tape.end();
  return { events: byId(changes.flatMap((change) => (change.kind === 'added' ? [change.event] : []))), bars, tape };
}

const hasBars = (run: unknown[]) => (run[1] as { tsMs: Float64Array }).tsMs.length > 0;
const plain = ({ events, bars, tape }: ReturnType<typeof inEventTime> | ReturnType<typeof byContract>) => {
  const volumes = tape.crossSections.volumes().map(({ contract: { id }, volume }) => [id, volume] as const);
  return {
    events,
    bars: bars.filter(hasBars).sort(([a], [b]) => ((a as string) < (b as string) ? -1 : 1)),
    section: tape.crossSections.snapshot(spyCall.underlying, coverage),
    volumes: volumes.sort(([a], [b]) => (a < b ? -1 : 1)),
    minutes: tape.minutes.take(spyCall.underlying),
    observed: tape.observed.of(spyCall.underlying),
    tops: tape.ranked.tops(),
    counts: tape.counts,
  };
};

test('a tape by contract gives what the tape in event time gives, whatever the order of the contracts', () => {
  const kinds = new Set<string>();
  let cancelled = 0;
  fc.assert(
    fc.property(prints, fc.shuffledSubarray([0, 1, 2], { minLength: 3 }), (records, order) => {
      const wanted = plain(inEventTime(records));
      for (const { eventKind } of wanted.events) kinds.add(eventKind);
      cancelled += wanted.counts.cancels - wanted.counts.unmatchedCancels;
      expect(plain(byContract(records, order))).toEqual(wanted);
    }),
    { numRuns: 1000 },
  );
  expect([...kinds].sort()).toEqual(['multi_leg', 'single_block', 'sweep']);
  expect(cancelled).toBeGreaterThan(0);
});

test('prints of one millisecond and contract are taken in the order of their nanoseconds', () => {
  const at = (tsNanos: number, price: number, sequence: number): OptionPrint => ({
    contract: spyCall,
    exchange: 302,
    price,
    size: 1,
    conditions: [209],
    correction: 0,
    tsMs: tapeStart,
    tsNanos,
    sequence,
  });
  const bars: number[][] = [];
  const tape = new ContractTape({
    session: tapeSession,
    onChange: () => {},
    onBars: (_, { open, close }) => bars.push([open[0]!, close[0]!]),
  });
  for (const print of [at(900, 30_000, 1), at(100, 10_000, 2), at(500, 20_000, 3)]) tape.print(print);
  tape.end();
  expect(bars).toEqual([[1, 3]]);
});
