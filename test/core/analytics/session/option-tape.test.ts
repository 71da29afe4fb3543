import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { OptionTape } from '../../../../src/core/analytics/session/option-tape.ts';
import type { FlowEvent, FlowMeasures } from '../../../../src/core/domain/flow/flow.ts';
import type { OptionPrint } from '../../../../src/core/domain/market/print.ts';
import { book, print, runTape, type TapeRecord, tapeSession, tapeStart } from '../../../support/tapes/option-tape.ts';
import { isPrint, microsOf, tapeContracts, tapes } from '../../../support/tapes/tapes.ts';

/** Orders of arrival in which nothing comes more than 5 s after something later: each record is delayed by 0–5 s. */
function delayed(records: readonly TapeRecord[], delays: readonly number[], mostMs = 5000): TapeRecord[] {
  return records
    .map((record, i) => ({ record, at: microsOf(record) + (delays[i % delays.length]! % (mostMs + 1)) * 1000 }))
    .sort((a, b) => a.at - b.at)
    .map(({ record }) => record);
}
const someDelays = fc.array(fc.nat(5000), { minLength: 1, maxLength: 60 });

function figures(tape: OptionTape) {
  const coverage = {
    status: 'observed_live' as const,
    complete: false,
    sessionDate: '2024-03-15',
    observedFromMs: 0,
    observedThroughMs: 0,
    registryVersion: 1,
    standardMultiplierAssumed: true,
  };
  return {
    crossSections: [...book.underlyings()]
      .map((underlying) => tape.crossSections.snapshot(underlying, coverage))
      .filter((snapshot) => snapshot !== null && snapshot.byStrike.length > 0)
      .map((snapshot) => ({ ...snapshot, seq: 0 })),
    ranked: tape.ranked.tops(),
    bars: tapeContracts.map((one) => tape.bars.minutes(one)),
  };
}
const byId = (events: readonly FlowEvent[]) => [...events].sort((a, b) => (a.eventId < b.eventId ? -1 : 1));

/** Result of a run, without the numbers of its changes. */
function outcome({ events, tape }: ReturnType<typeof runTape>) {
  return { events: byId(events), ...figures(tape) };
}

describe('the order of arrival', () => {
  test('changes nothing within the lateness bound, not even the numbering', () => {
    fc.assert(
      fc.property(tapes, someDelays, (records, delays) => {
        const inOrder = runTape(records);
        const shuffled = runTape(delayed(records, delays));
        expect(shuffled.changes).toEqual(inOrder.changes);
        expect(outcome(shuffled)).toEqual(outcome(inOrder));
      }),
      { numRuns: 150 },
    );
  });

  test('changes no event or figure in the end when prints are told at once, and revised when earlier ones or their quotes come', () => {
    fc.assert(
      fc.property(tapes, someDelays, fc.constantFrom(0, 50, 700), (records, delays, holdMs) => {
        expect(outcome(runTape(delayed(records, delays), { holdMs }))).toEqual(outcome(runTape(records)));
      }),
      { numRuns: 150 },
    );
  });

  test('events are told in one order however event time is advanced: first what nothing can join any more', () => {
    // For 100 ms the first may still be swept; the second, an auction's, is an event by itself at once.
    const waits = print(0, 2000, 1, 302);
    const alone = print(150, 2000, 1, 302, { conditions: [227], contract: tapeContracts[1]! });
    for (const holdMs of [0, 50, 5000]) {
      const told = runTape([waits, alone], { holdMs }).changes.map(({ seq, ...change }) => [
        seq,
        change.kind === 'added' && change.event.eventTsMs - tapeStart,
      ]);
      expect(told, `${holdMs}`).toEqual([
        [1, 0],
        [2, 150],
      ]);
    }
  });

  test('records that come twice change nothing', () => {
    fc.assert(
      fc.property(tapes, someDelays, fc.constantFrom(0, 5000), (records, delays, holdMs) => {
        const once = runTape(records, { holdMs });
        const twice = runTape([...delayed([...records, ...records], delays)], { holdMs: 5000 });
        if (holdMs === 5000) expect(twice.changes).toEqual(once.changes);
        expect(outcome(twice)).toEqual(outcome(runTape(records)));
        expect(twice.tape.counts.duplicates).toBe(twice.tape.counts.prints);
      }),
      { numRuns: 80 },
    );
  });
});

describe('a trade that is cancelled', () => {
  test('was never traded, whether it had been told or not', () => {
    fc.assert(
      fc.property(
        tapes,
        fc.array(
          fc.record({ victim: fc.nat(59), afterMs: fc.nat(20_000), condition: fc.constantFrom(201, 203, 205, 207) }),
          {
            minLength: 1,
            maxLength: 4,
          },
        ),
        fc.constantFrom(0, 200, 5000),
        (records, plans, holdMs) => {
          // Sizes are made unlike, so that the cancel means exactly that print.
          const unlike = records.map((record, i) => (isPrint(record) ? { ...record, size: record.size + i } : record));
          const victims = new Map(
            plans
              .map((plan) => [unlike[plan.victim % unlike.length]!, plan] as const)
              .filter(([record]) => isPrint(record)),
          );
          const cancels = [...victims].map(([victim, { afterMs, condition }], i) => ({
            ...(victim as OptionPrint),
            tsMs: victim.tsMs + afterMs,
            sequence: 1000 + i,
            conditions: [condition],
          }));
          const all = [...unlike, ...cancels].sort((a, b) => microsOf(a) - microsOf(b) || a.sequence - b.sequence);
          const never = unlike.filter((record) => !victims.has(record));
          const cancelled = runTape(all, { holdMs });
          expect(outcome(cancelled)).toEqual(outcome(runTape(never, { holdMs })));
        },
      ),
      { numRuns: 200 },
    );
  });

  test('is the same one in whatever order prints that look alike, repeats and cancels come', () => {
    const alike = fc.array(
      fc.record({
        ms: fc.nat(3000),
        cancel: fc.nat(3),
        exchange: fc.constantFrom(302, 316),
        size: fc.constantFrom(900, 1800),
      }),
      { minLength: 2, maxLength: 14 },
    );
    fc.assert(
      fc.property(alike, someDelays, fc.constantFrom(0, 100, 5000), (list, delays, holdMs) => {
        const records = list
          .map(({ ms, cancel, exchange, size }, i) =>
            print(ms, size, 1, exchange, { sequence: i + 1, conditions: cancel === 0 ? [201] : [209] }),
          )
          .sort((a, b) => microsOf(a) - microsOf(b) || a.sequence - b.sequence);
        const inOrder = runTape(records);
        const shuffled = runTape(delayed([...records, ...records], delays), { holdMs });
        expect(outcome(shuffled)).toEqual(outcome(inOrder));
        expect(shuffled.tape.counts.unmatchedCancels).toBe(inOrder.tape.counts.unmatchedCancels);
      }),
      { numRuns: 300 },
    );
  });

  test('is the most recent of those that look like it', () => {
    const early = print(0, 2000, 1, 302);
    const recent = print(1000, 2000, 1, 302);
    const later = print(5000, 2000, 1, 302);
    const cancel = print(3000, 2000, 1, 302, { conditions: [201] });
    for (const order of [
      [early, recent, cancel, later],
      [early, cancel, later, recent],
      [cancel, recent, early, later],
    ]) {
      for (const holdMs of [0, 5000]) {
        const left = runTape(order, { holdMs }).events.map(({ eventTsMs }) => eventTsMs - tapeStart);
        expect(left.sort((a, b) => a - b)).toEqual([0, 5000]);
      }
    }
  });

  test('leaves nothing behind in an event already told: it is withdrawn, and what remains of it is told anew', () => {
    const { changes, events } = runTape(
      [
        print(0, 900, 1, 302),
        print(20, 700, 1, 316),
        print(40, 1200, 1, 322),
        print(60_000, 700, 1, 316, { conditions: [203] }),
      ],
      { holdMs: 0 },
    );
    expect(changes.map(({ kind, seq }) => [kind, seq])).toEqual([
      ['added', 1],
      ['withdrawn', 2],
      ['added', 3],
    ]);
    expect(events).toMatchObject([{ eventKind: 'sweep', totalSize: 2100 }]);
  });

  test('that nobody saw takes nothing, and is counted', () => {
    const { events, tape } = runTape([print(0, 2000, 1, 302), print(1, 2000, 1, 316, { conditions: [201] })]);
    expect(events).toHaveLength(1);
    expect(tape.counts).toMatchObject({ cancels: 1, unmatchedCancels: 1 });
  });
});

describe('every print', () => {
  /** With every print large enough to be kept. */
  const large = (records: readonly TapeRecord[]) =>
    records.map((record) => (isPrint(record) ? { ...record, size: record.size * 1000 } : record));
  const counted = (record: TapeRecord): record is OptionPrint => isPrint(record) && !record.conditions.includes(247);

  test('is a leg of exactly one event, whose totals are those of its legs', () => {
    fc.assert(
      fc.property(tapes, (records) => {
        const { events } = runTape(large(records));
        const legs = events.flatMap((event) => event.legs.map(({ sequence }) => sequence)).sort((a, b) => a - b);
        expect(legs).toEqual(records.filter(counted).map(({ sequence }) => sequence));
        for (const { legs, totalSize, premiumUsd, priceLow, priceHigh } of events) {
          expect(totalSize).toBe(legs.reduce((sum, { size }) => sum + size, 0));
          expect(premiumUsd).toBeCloseTo(
            legs.reduce((sum, leg) => sum + leg.premiumUsd, 0),
            4,
          );
          expect(Math.min(...legs.map(({ price }) => price))).toBe(priceLow);
          expect(Math.max(...legs.map(({ price }) => price))).toBe(priceHigh);
        }
      }),
      { numRuns: 100 },
    );
  });

  test('is in the cross-section once by strike and once by expiry: both total the tape', () => {
    fc.assert(
      fc.property(tapes, (records) => {
        const { crossSections } = figures(runTape(records).tape);
        const total = (rows: readonly { measures: FlowMeasures }[]) =>
          rows.reduce(
            (sum, { measures: m }) => ({
              volume: sum.volume + m.callVolume + m.putVolume,
              premium: sum.premium + m.callPremiumUsd + m.putPremiumUsd,
              count: sum.count + m.callTradeCount + m.putTradeCount,
            }),
            { volume: 0, premium: 0, count: 0 },
          );
        const prints = records.filter(counted);
        const strikes = total(crossSections.flatMap(({ byStrike }) => byStrike ?? []));
        expect(strikes).toEqual(total(crossSections.flatMap(({ byExpiration }) => byExpiration ?? [])));
        expect(strikes).toEqual({
          volume: prints.reduce((sum, { size }) => sum + size, 0),
          premium: prints.reduce((sum, { price, size }) => sum + (price * size) / 100, 0),
          count: prints.length,
        });
        const byMinute = Map.groupBy(prints, ({ tsMs }) => tsMs - (tsMs % 60_000));
        const premiumOf = (of: typeof prints) => of.reduce((sum, { price, size }) => sum + (price * size) / 100, 0);
        expect(
          crossSections
            .flatMap(({ minutes }) => minutes ?? [])
            .map(({ tsMs, callPremiumUsd, putPremiumUsd }) => [tsMs, callPremiumUsd + putPremiumUsd] as const)
            .reduce((sums, [tsMs, usd]) => sums.set(tsMs, (sums.get(tsMs) ?? 0) + usd), new Map<number, number>()),
        ).toEqual(new Map([...byMinute].sort(([a], [b]) => a - b).map(([tsMs, of]) => [tsMs, premiumOf(of)])));
      }),
      { numRuns: 100 },
    );
  });
});

describe('bounded memory', () => {
  test('prints long forgotten stand as they are', () => {
    const prints = Array.from({ length: 20_000 }, (_, i) => print(i * 10, 1, 1, 302, { sequence: i + 1 }));
    const all = runTape(prints).tape;
    const few = runTape(prints, { remembered: 4096 }).tape;
    expect(figures(few)).toEqual(figures(all));
  });

  test('prints and quotes of another trade date are left out', () => {
    // The session begins at 20:00 on the eve, 14 hours before, and ends at 20:00.
    const hours = [-14 - 1e-6, -14, 10 - 1e-6, 10];
    const { tape } = runTape(hours.map((hour) => print(Math.round(hour * 3_600_000), 1000, 1, 302)));
    expect(tape.counts).toMatchObject({ prints: 2, otherSession: 2 });
  });

  test('time that passes without prints tells what is over', () => {
    const told: string[] = [];
    const tape = new OptionTape({ session: tapeSession, onChange: ({ kind }) => told.push(kind), holdMs: 500 });
    tape.print(print(0, 1000, 1, 302));
    tape.advance(tapeStart + 600);
    expect(told).toEqual([]);
    tape.advance(tapeStart + 601);
    expect(told).toEqual(['added']);
    expect(tape.reachedMs).toBe(tapeStart + 601);
  });
});
