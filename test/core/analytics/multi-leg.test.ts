import { expect, test } from 'vitest';
import { contract, print, quote, runTape, tapeStart } from '../../support/tapes/option-tape.ts';

const put = contract('O:SPY240419P00500000');
const weekly = contract('O:SPXW240419C05200000');
const monthly = contract('O:SPX240419C05200000');

test('multi-leg prints of one underlying and exchange within 50 ms are one event', () => {
  const legs = [
    print(0, 500, 1.25, 302, { conditions: [232] }),
    print(50, 500, 2.5, 302, { conditions: [232], contract: put }),
  ];
  const { events } = runTape([quote(0, 1.2, 1.25), quote(0, 2.4, 2.5, { contract: put }), ...legs]);
  expect(events).toMatchObject([
    { eventKind: 'multi_leg', totalSize: 1000, premiumUsd: 187_500, side: 'buy_inferred', multiLeg: true },
  ]);
});

test('the side of a spread whose legs differ is unknown, its legs keep theirs', () => {
  const { events } = runTape([
    quote(0, 1.2, 1.25),
    quote(0, 2.4, 2.5, { contract: put }),
    print(0, 500, 1.25, 302, { conditions: [235] }),
    print(10, 500, 2.4, 302, { conditions: [235], contract: put }),
  ]);
  expect(events[0]!.side).toBe('unknown');
  expect(events[0]!.legs.map(({ side }) => side)).toEqual(['buy_inferred', 'sell_inferred']);
});

test('51 ms after the first leg a print is not of it, whatever lies between', () => {
  const legs = [0, 30, 51].map((ms, i) =>
    print(ms, 2000, 1, 302, { conditions: [233], contract: i % 2 ? put : weekly }),
  );
  legs[0]!.contract = contract('O:SPY240419C00510000');
  legs[2]!.contract = contract('O:SPY240419C00510000');
  expect(runTape(legs).events.map(({ legs }) => legs.map(({ eventTsMs }) => eventTsMs - tapeStart))).toEqual([
    [0, 30],
    [51],
  ]);
});

test('a lone multi-leg print, and each of several of one contract, is still a multi-leg event', () => {
  const one = print(0, 2000, 1, 302, { conditions: [246] });
  const same = [print(100, 2000, 1, 316, { conditions: [240] }), print(110, 2000, 1, 316, { conditions: [240] })];
  expect(runTape([one, ...same]).events.map(({ eventKind, legs }) => [eventKind, legs.length])).toEqual([
    ['multi_leg', 1],
    ['multi_leg', 1],
    ['multi_leg', 1],
  ]);
});

test('legs of different roots of one underlying belong together, those of different exchanges do not', () => {
  const legs = (exchange: number) => [
    print(0, 500, 10, 302, { conditions: [232], contract: weekly }),
    print(5, 500, 12, exchange, { conditions: [238], contract: monthly }),
  ];
  expect(runTape(legs(302)).events.map(({ underlying, legs }) => [underlying, legs.length])).toEqual([['SPX', 2]]);
  expect(runTape(legs(316)).events).toHaveLength(2);
});

test('compression trades are in nothing at all', () => {
  const { events, tape } = runTape([print(0, 90_000, 5, 302, { conditions: [247] })]);
  expect(events).toEqual([]);
  expect(tape.crossSections.volumes()).toEqual([]);
  expect(tape.counts.leftOut).toBe(1);
});

test('an event of exactly the least premium is kept, one cent less is not', () => {
  expect(runTape([print(0, 1000, 1, 302)]).events).toMatchObject([{ eventKind: 'single_block', premiumUsd: 100_000 }]);
  expect(runTape([print(0, 1000, 0.9999, 302)]).events).toEqual([]);
});
