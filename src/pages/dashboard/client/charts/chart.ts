// A chart as a component of the page.
import type { EChartsOption } from 'echarts';
import { html } from 'htm/preact';
import type { VNode } from 'preact';
import { useEffect, useRef, useState } from 'preact/hooks';
import { DrawnChart, type Place } from './drawn-chart.ts';

/** Props of a chart. */
export interface ChartProps {
  /** Made again when the data or the palette changes. */
  option: EChartsOption;
  /** The chart in words, for who does not see it. */
  label: string;
  /** Changes when what is shown is another thing (symbol, length of candles), so that zoom and all start afresh. */
  subject: string;
  /**
   * Length of the axis that a window moves along: one that shows its end goes on with it. Absent: the window stays
   * where it is.
   */
  length?: number;
}

let charts: Promise<typeof import('./chart-library.ts')> | null = null;

/** Loads what draws charts, once. It is larger than all else of the page together, which is not to wait for it. */
export function loadCharts(): Promise<typeof import('./chart-library.ts')> {
  charts ??= import('./chart-library.ts').catch((error) => {
    charts = null;
    throw error;
  });
  return charts;
}

/** The chart; it takes the room of its parent. */
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
