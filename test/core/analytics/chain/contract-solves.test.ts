import { describe, expect, test } from 'vitest';
import { contractSolves } from '../../../../src/core/analytics/chain/contract-solves.ts';
import type { ContractLine } from '../../../../src/core/domain/chain/chain.ts';
import type { OptionContract } from '../../../../src/core/domain/chain/option-contract.ts';
import { newYork } from '../../../support/option-market.ts';

const [thursday, friday] = ['2026-11-19', '2026-11-20'];
const call: OptionContract = { root: 'SPY', expiry: '2026-12-18', right: 'call', strike: 600_000 };
const put: OptionContract = { ...call, right: 'put' };

function line(clock: string, more: Partial<ContractLine> = {}, sessionDate = friday): ContractLine {
  return {
    capturedAt: newYork(sessionDate, clock),
    sessionDate,
    spot: 600.5,
    priorCloseSpot: 598,
    volume: null,
    bid: null,
    ask: null,
    last: null,
    iv: 0.15,
    delta: 0.5,
    gamma: 0.01,
    vega: 0.7,
    ...more,
  };
}
const quote = { bid: 4.3, ask: 4.4 };
const marks = (contract: OptionContract, ...lines: ContractLine[]) =>
  contractSolves(contract, lines).map(({ mark, markSource }) => [mark, markSource]);

test('a quoted line is a solve: the mid, the figures as stored, the quote', () => {
  expect(contractSolves(call, [line('12:00', quote)])).toEqual([
    {
      tsMs: newYork(friday, '12:00'),
      iv: 0.15,
      delta: 0.5,
      gamma: 0.01,
      mark: 4.35,
      markSource: 'mid',
      ...quote,
    },
  ]);
});

test('the middle of two prices shows no tail', () => {
  expect(marks(call, line('12:00', { bid: 90.75, ask: 92.96 }))).toEqual([[91.855, 'mid']]);
});

describe('without a quote', () => {
  test('nothing is a solve but what says what the contract cost', () => {
    expect(marks(call, line('12:00'), line('12:05', { bid: 2, ask: 1, last: 1.5 }))).toEqual([]);
    expect(marks(call, line('12:00', { last: 4.2, volume: 10 }))).toEqual([]);
  });

  test('volume that grew since the capture before, at most 15 minutes ago, makes last the mark', () => {
    const before = line('11:45', { last: 4, volume: 10 });
    expect(marks(call, before, line('12:00', { last: 4.2, volume: 11 }))).toEqual([[4.2, 'last']]);
    expect(marks(call, before, line('12:01', { last: 4.2, volume: 11 }))).toEqual([]);
    expect(marks(call, before, line('12:00', { last: 4.2, volume: 10 }))).toEqual([]);
    expect(marks(call, before, line('12:00', { last: 4.2, volume: null }))).toEqual([]);
    expect(marks(call, before, line('12:00', { last: null, volume: 11 }))).toEqual([]);
  });

  test('a trade stays the mark while it cannot be older than 15 minutes', () => {
    const traded = [line('11:50', { volume: 10 }), line('11:55', { last: 4.2, volume: 11 })];
    const later = (clock: string) => marks(call, ...traded, line(clock, { last: 4.2, volume: 11 }));
    expect(later('12:05')).toHaveLength(2);
    expect(later('12:06')).toHaveLength(1);
  });

  test('what traded by the first capture traded after the open, but index options trade at night', () => {
    const first = line('09:35', { last: 4.2, volume: 3 });
    expect(marks(call, first)).toEqual([[4.2, 'last']]);
    expect(marks({ ...call, root: 'SPXW' }, first)).toEqual([]);
    expect(marks(call, line('09:25', { last: 4.2, volume: 300 }))).toEqual([]);
    expect(marks(call, line('09:25', { last: 4.2, volume: 300 }), first)).toEqual([[4.2, 'last']]);
    expect(marks(call, line('09:50', { last: 4.2, volume: 3 }))).toEqual([]);
  });

  test('the close of the session before is a mark without volatility', () => {
    const yesterday = line('15:55', { last: 3.9, volume: 50 }, thursday);
    const today = line('12:00', { last: 3.95, volume: 0 });
    expect(contractSolves(call, [yesterday, today])).toMatchObject([
      { mark: 3.95, markSource: 'close', iv: null, delta: null, gamma: null },
    ]);
    expect(marks(call, yesterday, line('12:00'))).toEqual([[3.9, 'close']]);
    expect(marks(call, line('15:55', { last: 3.9, volume: 0 }, thursday), today)).toEqual([]);
    expect(marks(call, line('15:55', { last: 3.9, volume: 50 }, '2026-11-18'), today)).toEqual([]);
  });
});

describe('no volatility is served', () => {
  const iv = (contract: OptionContract, more: Partial<ContractLine>, clock = '12:00') => {
    const [solve] = contractSolves(contract, [line(clock, { ...quote, ...more })]);
    expect(solve).toBeDefined();
    if (solve!.iv === null) expect([solve!.delta, solve!.gamma]).toEqual([null, null]);
    return solve!.iv;
  };

  test('at or below what exercise is worth, at or over what the contract can be worth', () => {
    expect(iv(call, { spot: 604.35 })).toBeNull();
    expect(iv(call, { spot: 604.34 })).toBe(0.15);
    expect(iv(put, { spot: 595.65 })).toBeNull();
    expect(iv(put, { spot: 595.66 })).toBe(0.15);
    expect(iv(call, { spot: null, priorCloseSpot: 604.35 })).toBeNull();
    expect(iv(call, { bid: 600.4, ask: 600.6 })).toBeNull();
    expect(iv({ ...put, strike: 4000 }, {})).toBeNull();
    // A European put may be worth less than its exercise would be; an adjusted contract is not exercised for one share.
    expect(iv({ ...put, root: 'SPXW' }, { spot: 595 })).toBe(0.15);
    expect(iv({ ...call, root: 'SPY1' }, { spot: 650 })).toBe(0.15);
    expect(iv(call, { spot: null, priorCloseSpot: null })).toBe(0.15);
  });

  test('where the capture’s solve found the mid outside its bounds, whatever the source’s price of the underlying', () => {
    expect(iv(call, { spot: 610, withinBounds: true })).toBe(0.15);
    expect(iv(call, { withinBounds: false })).toBeNull();
    expect(iv({ ...put, root: 'SPXW' }, { withinBounds: false })).toBeNull();
    // It says nothing of a trade.
    const traded = { bid: null, ask: null, last: 4.35, volume: 10, spot: 610, withinBounds: true };
    expect(iv(call, traded, '09:35')).toBeNull();
  });

  test('once the contract has expired, from its close on; a contract settled at the open on all of that day', () => {
    expect(iv({ ...call, expiry: friday }, {}, '15:59')).toBe(0.15);
    expect(iv({ ...call, expiry: friday }, {}, '16:00')).toBeNull();
    expect(iv({ ...call, root: 'SPX', expiry: friday }, {}, '09:35')).toBeNull();
  });

  test('outside [0.005, 10], or where half the spread is worth more than half a volatility', () => {
    expect(iv(call, { iv: 0 })).toBeNull();
    expect(iv(call, { iv: 10.1 })).toBeNull();
    expect(iv(call, { iv: 0.005 })).toBe(0.005);
    expect(iv(call, { vega: 0.000_99 })).toBeNull();
    expect(iv(call, { vega: 0.001_01 })).toBe(0.15);
    expect(iv(call, { vega: 0 })).toBeNull();
    expect(iv(call, { vega: null })).toBe(0.15);
  });
});
