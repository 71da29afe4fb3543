import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import {
  contractId,
  osiSymbol,
  parseOptionContract,
  readOptionContract,
} from '../../../../src/core/domain/chain/option-contract.ts';
import { lastInstant, standardRoots } from '../../../../src/core/domain/chain/option-root.ts';
import { dateOfEpochDay } from '../../../../src/core/domain/market-time.ts';

const contracts = fc.record({
  root: fc.stringMatching(/^[A-Z0-9]{1,6}$/),
  expiry: fc
    .integer({ min: 10_957, max: 47_000 })
    .map(dateOfEpochDay)
    .filter((date) => date < '2099-12-31'),
  right: fc.constantFrom('call' as const, 'put' as const),
  strike: fc.integer({ min: 1, max: 99_999_999 }),
});

describe('option contracts', () => {
  test('come back identical from their OSI symbol, whatever the root', () => {
    fc.assert(
      fc.property(contracts, (contract) => {
        expect(readOptionContract(osiSymbol(contract))).toEqual(contract);
        expect(parseOptionContract(contractId(contract).toLowerCase())).toEqual(contract);
      }),
    );
  });

  test.each([
    'O:SPY',
    'SPY241220C00600000',
    'O:SPY241320C00600000',
    'O:SPY240230C00600000',
    'O:SPY241220C00000000',
    'O:SPY241220X00600000',
    'O:TOOLONG241220C00600000',
    'O:SPY241220C0060000',
    '',
  ])('%j is refused, naming the parameter', (text) => {
    expect(() => parseOptionContract(text)).toThrow(
      expect.objectContaining({ name: 'InvalidValue', message: expect.stringMatching(/^contract: expected O:/) }),
    );
  });

  test('belong to the ticker of their root', () => {
    expect(
      ['SPXW', 'NDXP', 'RUTW', 'VIXW', 'BRKB', 'SPY', 'TSLA1'].map((root) => standardRoots.of(root).underlying),
    ).toEqual(['SPX', 'NDX', 'RUT', 'VIX', 'BRK.B', 'SPY', 'TSLA']);
    expect(standardRoots.of('TSLA1').adjusted).toBe(true);
    expect(standardRoots.of('SPXW')).toMatchObject({ style: 'european', settlement: 'pm' });
    expect(standardRoots.of('SPX')).toMatchObject({ style: 'european', settlement: 'am' });
    expect(standardRoots.of('OEX').style).toBe('american');
  });

  test('die at the open or at the close of their expiry date', () => {
    expect(lastInstant('2026-11-20', 'pm')).toBe(Date.parse('2026-11-20T21:00Z'));
    expect(lastInstant('2026-11-27', 'pm')).toBe(Date.parse('2026-11-27T18:00Z'));
    expect(lastInstant('2026-11-20', 'am')).toBe(Date.parse('2026-11-20T14:30Z'));
  });

  test('dated on a day without trading, end with the last session before it', () => {
    expect(lastInstant('2014-06-21', 'pm')).toBe(Date.parse('2014-06-20T20:00Z'));
    expect(lastInstant('2014-06-21', 'am')).toBe(Date.parse('2014-06-20T13:30Z'));
    // The day after Good Friday, and the Sunday after Thanksgiving's half day.
    expect(lastInstant('2008-03-22', 'pm')).toBe(Date.parse('2008-03-20T20:00Z'));
    expect(lastInstant('2026-11-29', 'pm')).toBe(Date.parse('2026-11-27T18:00Z'));
  });
});
