import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import {
  blackScholes,
  type OptionInputs,
  yieldOfForward,
} from '../../../../src/core/analytics/pricing/black-scholes.ts';

const worked = { spot: 600, strike: 600, years: 30 / 365, rate: 0.045, dividendYield: 0.012, volatility: 0.15 };

/** Options whose price and sensitivities are neither nothing nor everything. */
const options = fc.record({
  right: fc.constantFrom('call', 'put'),
  spot: fc.double({ min: 10, max: 6000, noNaN: true }),
  moneyness: fc.double({ min: -2.5, max: 2.5, noNaN: true }),
  years: fc.double({ min: 0.01, max: 3, noNaN: true }),
  rate: fc.double({ min: -0.02, max: 0.1, noNaN: true }),
  dividendYield: fc.double({ min: -0.02, max: 0.1, noNaN: true }),
  volatility: fc.double({ min: 0.05, max: 1.5, noNaN: true }),
});
type Drawn = typeof options extends fc.Arbitrary<infer T> ? T : never;

/** `moneyness` is in standard deviations, so that every draw has a live price. */
function inputsOf({ moneyness, ...rest }: Drawn): OptionInputs {
  return { ...rest, strike: rest.spot * Math.exp(moneyness * rest.volatility * Math.sqrt(rest.years)) } as OptionInputs;
}

/** Central difference of `value` by one input, over a small part of the scale on which it bends. */
function slope(
  value: (inputs: OptionInputs) => number,
  inputs: OptionInputs,
  by: 'spot' | 'volatility' | 'years',
): number {
  const step = 3e-4 * inputs[by] * (by === 'spot' ? inputs.volatility * Math.sqrt(inputs.years) : 1);
  return (value({ ...inputs, [by]: inputs[by] + step }) - value({ ...inputs, [by]: inputs[by] - step })) / (2 * step);
}

describe('Black–Scholes with a yield', () => {
  test('the worked call and put', () => {
    const call = blackScholes({ ...worked, right: 'call' });
    const put = blackScholes({ ...worked, right: 'put' });
    expect(call.price).toBeCloseTo(11.10093179, 8);
    expect(put.price).toBeCloseTo(9.477341689, 9);
    expect(call.delta).toBeCloseTo(0.5331737844, 10);
    expect(put.delta).toBeCloseTo(-0.4658404004, 10);
    expect(call.vega).toBeCloseTo(68.31152306, 8);
    expect(call.charm).toBeCloseTo(-0.1979197825, 10);
    expect(put.charm).toBeCloseTo(-0.2099079527, 10);
    for (const value of [call, put]) {
      expect(value.gamma).toBeCloseTo(0.01539117649, 11);
      expect(value.vanna).toBeCloseTo(-0.1100574538, 10);
    }
  });

  test('call − put = S·e^{−qT} − K·e^{−rT}', () => {
    fc.assert(
      fc.property(options, (drawn) => {
        const inputs = inputsOf(drawn);
        const { spot, strike, years, rate, dividendYield } = inputs;
        const difference =
          blackScholes({ ...inputs, right: 'call' }).price - blackScholes({ ...inputs, right: 'put' }).price;
        const parity = spot * Math.exp(-dividendYield * years) - strike * Math.exp(-rate * years);
        expect(Math.abs(difference - parity)).toBeLessThan(1e-12 * (spot + strike));
      }),
    );
  });

  test('0 ≤ Δ of a call ≤ e^{−qT}, −e^{−qT} ≤ Δ of a put ≤ 0, Γ ≥ 0, vega ≥ 0', () => {
    fc.assert(
      fc.property(options, (drawn) => {
        const inputs = inputsOf(drawn);
        const { delta, gamma, vega } = blackScholes(inputs);
        const most = Math.exp(-inputs.dividendYield * inputs.years);
        const size = inputs.right === 'call' ? delta : -delta;
        expect(size).toBeGreaterThanOrEqual(0);
        expect(size).toBeLessThanOrEqual(most);
        expect(gamma).toBeGreaterThanOrEqual(0);
        expect(vega).toBeGreaterThanOrEqual(0);
      }),
    );
  });

  test('every sensitivity is the slope it names', () => {
    fc.assert(
      fc.property(options, (drawn) => {
        const inputs = inputsOf(drawn);
        const { spot, volatility, years } = inputs;
        const deviation = volatility * Math.sqrt(years);
        const value = blackScholes(inputs);
        const close = (actual: number, expected: number, scale: number) =>
          expect(Math.abs(actual - expected) / scale).toBeLessThan(1e-4);
        close(
          slope((at) => blackScholes(at).price, inputs, 'spot'),
          value.delta,
          1,
        );
        close(
          slope((at) => blackScholes(at).delta, inputs, 'spot'),
          value.gamma,
          1 / (spot * deviation),
        );
        close(
          slope((at) => blackScholes(at).price, inputs, 'volatility'),
          value.vega,
          spot * Math.sqrt(years),
        );
        close(
          slope((at) => blackScholes(at).delta, inputs, 'volatility'),
          value.vanna,
          1 / volatility,
        );
        // Time passing shortens the option's life.
        close(-slope((at) => blackScholes(at).price, inputs, 'years'), value.theta, (spot * deviation) / years);
        close(-slope((at) => blackScholes(at).delta, inputs, 'years'), value.charm, 1 / years);
      }),
    );
  });

  test('the price on the forward, with the rate as yield (Black-76), is the price on the spot', () => {
    fc.assert(
      fc.property(options, (drawn) => {
        const inputs = inputsOf(drawn);
        const { spot, years, rate, dividendYield } = inputs;
        const forward = spot * Math.exp((rate - dividendYield) * years);
        expect(blackScholes({ ...inputs, spot: forward, dividendYield: rate }).price).toBeCloseTo(
          blackScholes(inputs).price,
          7,
        );
        expect(yieldOfForward(forward, spot, rate, years)).toBeCloseTo(dividendYield, 9);
      }),
    );
  });

  test('without time left an option is worth what exercise brings and has no curvature', () => {
    const expired = { ...worked, strike: 590, years: 0 };
    expect(blackScholes({ ...expired, right: 'call' })).toMatchObject({ price: 10, delta: 1, gamma: 0, vega: 0 });
    expect(blackScholes({ ...expired, right: 'put' })).toMatchObject({ price: 0, gamma: 0, vega: 0 });
  });
});
