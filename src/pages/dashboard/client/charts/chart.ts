// A chart as a component of the page.
import type { EChartsOption } from 'echarts';
import { html } from 'htm/preact';
import type { VNode } from 'preact';
import { useEffect, useRef, useState } from 'preact/hooks';
import { DrawnChart, type Place } from './drawn-chart.ts';

/** Props of a chart. */
export interface ChartProps {
  /** The chart's options; a new object when the data or the palette changes. */
  option: EChartsOption;
  /** Description of the chart for screen readers. */
  label: string;
  /** Changes when another thing is shown (symbol, length of candles), so that zoom and position are reset. */
  subject: string;
  /** Length of the axis of a window: a window at its end stays at the end. Absent: the window does not move. */
  length?: number;
}

let charts: Promise<typeof import('./chart-library.ts')> | null = null;

/**
 * Loads the chart library, once. It is larger than everything else of the page together, which must not wait for it.
 */
export function loadCharts(): Promise<typeof import('./chart-library.ts')> {
  charts ??= import('./chart-library.ts').catch((error) => {
    charts = null;
    throw error;
  });
  return charts;
}

/** The chart; it fills its parent. */
export function Chart({ option, label, subject, length }: ChartProps): VNode {
  const container = useRef<HTMLDivElement>(null);
  const [place, setPlace] = useState<Place>('first');
  const [chart] = useState(() => new DrawnChart(setPlace));
  const [failed, setFailed] = useState(false);

  useEffect(() => {
    let isGone = false;
    let end = () => {};
    loadCharts().then(
      (loaded) => {
        if (!isGone) end = chart.make(loaded, container.current!);
      },
      () => setFailed(true),
    );
    return () => {
      isGone = true;
      end();
    };
  }, []);
  useEffect(() => chart.show({ option, subject, length }), [option, subject]);

  if (failed) return html`<div class="message"><p>What draws the charts could not be loaded.</p></div>` as VNode;
  return html`<div class="chart" ref=${container} role="img" aria-label=${label}></div>
    ${place === 'first' ? null : html`<${ChartWays} chart=${chart} place=${place} />`}` as VNode;
}

/** Buttons that bring the reader back from where they moved to. */
function ChartWays({ chart, place }: { chart: DrawnChart; place: Place }): VNode {
  return html`<div class="chart-ways">
      ${place === 'behind' ? html`<button type="button" class="chip" title="Go to the latest, and stay with it" onClick=${() => chart.showLatest()}>Latest</button>` : null}
      <button type="button" class="chip" title="Show all of it again; a double click does too" onClick=${() => chart.reset()}>Reset</button>
    </div>` as VNode;
}
