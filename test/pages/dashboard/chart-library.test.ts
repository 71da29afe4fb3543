import type { EChartsOption } from 'echarts';
import { use } from 'echarts/core';
import { SVGRenderer } from 'echarts/renderers';
import { afterEach, expect, test, vi } from 'vitest';
import type { FlowMeasures, VolatilitySurface } from '../../../generated/pages/operation-types.ts';
import { smileOption, termOption } from '../../../src/pages/dashboard/client/chain/volatility-panels.ts';
import { init } from '../../../src/pages/dashboard/client/charts/chart-library.ts';
import { noPalette } from '../../../src/pages/dashboard/client/charts/palette.ts';
import {
  expiryFlowOption,
  expiryRows,
  strikeFlowOption,
  strikeRows,
} from '../../../src/pages/dashboard/client/flow/flow-bars.ts';
import { gexBarsOption } from '../../../src/pages/dashboard/client/gex/gex-bars.ts';
import { heatCells, heatOption } from '../../../src/pages/dashboard/client/gex/gex-heat.ts';
import { candleOption } from '../../../src/pages/dashboard/client/market/candles-panel.ts';
import { newYork } from '../../support/option-market.ts';

// All parts, registered with a copy of their own. `as string`: this file has no types.
const whole = (await import('echarts/dist/echarts.esm.min' as string)) as { init: typeof init };
// The page draws on canvases, which Node has not.
use([SVGRenderer]);
afterEach(() => vi.restoreAllMocks());

const at = newYork('2026-11-20', '10:00');
const levels = [{ name: 'Flip', at: 100.5, colour: 'call' as const, dashed: true }];
const measures = { callPremiumUsd: 5, putPremiumUsd: 3 } as FlowMeasures;
const strikes = [100_000, 101_000];

function candles(): EChartsOption {
  const of = (value: number) => [value, value + 1];
  const bars = { tsMs: [at, at + 60_000], open: of(10), high: of(12), low: of(9), close: of(11), volume: of(5) };
  return candleOption({ bars, timeframe: '1m', levels, live: 11, palette: noPalette });
}

function gexBars(): EChartsOption {
  const rows = strikes.map((strike) => ({ strike, gex: 1, gex0dte: null, callOi: 1, putOi: 1 }));
  return gexBarsOption({ rows, measure: 'gex', levels, range: null, palette: noPalette });
}

function heat(): EChartsOption {
  const captures = [at, at + 60_000].map((capturedAt) => ({
    capturedAt,
    spot: 100.5,
    strikes: strikes.map((strike) => ({ strike, gex: 1 })),
  }));
  const meta = { sessionOpen: '09:30', sessionClose: '16:00' };
  return heatOption(heatCells(captures), { sessionDate: '2026-11-20', captures, meta }, noPalette);
}

const surface = {
  spot: 100_500,
  expiries: ['2026-12-18', '2027-01-15'].map((expiry, i) => ({
    expiry,
    dte: 28 * (i + 1),
    atmIv: 0.2,
    atmStrike: 100_000,
    contractCount: 2,
  })),
  points: strikes.map((strike) => ({ expiry: '2026-12-18', strike, right: 'call' as const, iv: 0.2 })),
} as unknown as VolatilitySurface;

const flowByStrike = () =>
  strikeFlowOption(
    strikeRows(
      strikes.map((strikeThousandths) => ({ strikeThousandths, measures })),
      'premium',
    ),
    'premium',
    noPalette,
    100.5,
  );

const charts: Readonly<Record<string, () => EChartsOption>> = {
  candles,
  'gamma by strike': gexBars,
  'the heat map of gamma': heat,
  'flow by strike': flowByStrike,
  'flow by expiry': () => expiryFlowOption(expiryRows([{ expiry: '2026-12-18', measures }]), 'premium', noPalette),
  'the smile': () => smileOption(surface, ['2026-12-18'], noPalette),
  'the term structure': () => termOption(surface, noPalette),
};

function drawn(by: typeof init, option: EChartsOption): string {
  const chart = by(null, null, { renderer: 'svg', ssr: true, width: 600, height: 390 });
  chart.setOption(option);
  const markup = chart.renderToSVGString();
  chart.dispose();
  // Names are numbered through all charts that a library has drawn: here by their first appearance.
  const names: string[] = [];
  return markup.replaceAll(/zr\d+-[a-z]+-?\d+/g, (name) => {
    if (!names.includes(name)) names.push(name);
    return `name-${names.indexOf(name)}`;
  });
}

test.each(Object.entries(charts))(
  'the parts of ECharts that pages load draw %s as the whole of it does',
  (_name, option) => {
    // ECharts names parts that it lacks here, and draws without them.
    const said = vi.spyOn(console, 'error').mockImplementation(() => {});
    const markup = drawn(init, option());
    expect(said.mock.calls).toEqual([]);
    expect(markup.match(/<path/g)!.length).toBeGreaterThan(2);
    expect(markup).toBe(drawn(whole.init, option()));
  },
);
