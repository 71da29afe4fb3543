import { describe, expect, test } from 'vitest';
import { readTicker } from '../../../../src/core/domain/market/ticker.ts';
import { readVendorTicker } from '../../../../src/intake/tape/text/vendor-ticker.ts';

describe('a ticker', () => {
  test.each(['BRK.B', 'BRK-B', 'BRK/B', 'BRK B', 'brk-b', 'Brk b'])('%s is BRK.B, however it is written', (text) => {
    expect(readTicker(text)).toBe('BRK.B');
  });

  test.each(['BRK  B', 'BRK_B', 'BRK.', ' BRK', 'BRK B C', 'BRK\u00a0B', 'BRK\tB', 'BRK--B', 'ſPY'])(
    '%s is none',
    (text) => {
      expect(readTicker(text)).toBeNull();
    },
  );

  test.each([
    ['BRK/B', 'BRK.B'],
    ['BRK B', 'BRK.B'],
    ['BACpL', 'BAC.PRL'],
    ['AAHw', 'AAH.WI'],
    ['AAE.RT', 'AAE.RT'],
    ['AAB/WS', 'AAB.WS'],
    ['AAB.WS.A', null],
    ['AAFpJ/CL', null],
  ])('%s of a tape is %s', (text, symbol) => {
    expect(readVendorTicker(text)).toBe(symbol);
  });
});
