// A chart that is made once and changed in place.
import type { ECharts, EChartsOption } from 'echarts';
import { html } from 'htm/preact';
import type { VNode } from 'preact';
import { useEffect, useRef, useState } from 'preact/hooks';
import { whileInSight } from '../sight.ts';

/** What a chart is drawn from. */
export interface ChartProps {
  /** Made again when the data or the palette changes. */
  option: EChartsOption;
  /** What the chart says, for who does not see it. */
  label: string;
  /** Changes when what is shown is another thing (symbol, length of candles), so that zoom and all start afresh. */
  subject: string;
}

// Charts are drawn at most so often, however fast the data comes.
const shortestMs = 400;

let charts: Promise<typeof import('echarts')> | null = null;

/** Loads what draws charts, once. It is larger than all else of the page together, which is not to wait for it. */
export function loadCharts(): Promise<typeof import('echarts')> {
  charts ??= import('echarts').catch((error) => {
    charts = null;
    throw error;
  });
  return charts;
}

/** The chart; it takes the room of its parent. */
export function Chart({ option, label, subject }: ChartProps): VNode {
  const container = useRef<HTMLDivElement>(null);
  const chart = useRef<ECharts | null>(null);
  const drawn = useRef({ subject: '', atMs: 0, timer: 0, option, inSight: false, waits: () => {} });
  const [moved, setMoved] = useState(false);
  const [failed, setFailed] = useState(false);
  const reset = useRef(() => {});
  reset.current = () => {
    chart.current?.setOption(drawn.current.option, { notMerge: true });
    setMoved(false);
  };

  const make = ({ init }: typeof import('echarts')) => {
    // The observers may call once more after the element is taken off the page.
    const element = container.current!;
    const made = init(element, null, { renderer: 'canvas' });
    chart.current = made;
    made.on('datazoom', () => setMoved(true));
    made.getZr().on('dblclick', () => reset.current());
    // It is also called at once, when the chart has its size already.
    const sized = new ResizeObserver(() => {
      const { clientWidth, clientHeight } = element;
      if (clientWidth !== made.getWidth() || clientHeight !== made.getHeight()) made.resize();
    });
    sized.observe(element);
    const unwatch = whileInSight(element, (inSight) => {
      drawn.current.inSight = inSight;
      if (inSight) setTimeout(() => drawn.current.waits());
    });
    return () => {
      unwatch();
      clearTimeout(drawn.current.timer);
      sized.disconnect();
      // What is half drawn would be gone on with after its canvas is gone: drawing nothing ends it.
      made.clear();
      made.getZr().flush();
      made.dispose();
      chart.current = null;
    };
  };

  useEffect(() => {
    let isGone = false;
    let end = () => {};
    loadCharts().then(
      (loaded) => {
        if (!isGone) end = make(loaded);
      },
      () => setFailed(true),
    );
    return () => {
      isGone = true;
      end();
    };
  }, []);

  useEffect(() => {
    const state = drawn.current;
    state.option = option;
    const draw = () => {
      state.timer = 0;
      // What nobody sees is drawn when it comes into sight.
      state.waits = state.inSight ? () => {} : draw;
      if (!state.inSight) return;
      state.atMs = performance.now();
      const afresh = state.subject !== subject;
      state.subject = subject;
      if (afresh) setMoved(false);
      if (afresh) chart.current?.setOption(state.option, { notMerge: true });
      else {
        // What the reader moved or zoomed stays; a window that ends with the data goes on with it.
        const { dataZoom: _kept, ...changed } = state.option;
        chart.current?.setOption(changed, { replaceMerge: ['series', 'yAxis', 'xAxis'], lazyUpdate: true });
      }
    };
    if (state.subject !== subject) {
      // Each chart in a task of its own: other work comes between them.
      clearTimeout(state.timer);
      state.timer = window.setTimeout(draw);
    } else if (state.timer === 0) {
      state.timer = window.setTimeout(draw, Math.max(0, state.atMs + shortestMs - performance.now()));
    }
  }, [option, subject]);

  if (failed) return html`<div class="message"><p>What draws the charts could not be loaded.</p></div>` as VNode;
  return html`<div class="chart" ref=${container} role="img" aria-label=${label}></div>
    ${moved ? html`<button type="button" class="chip reset" title="Show all of it again; a double click does too" onClick=${() => reset.current()}>Reset</button>` : null}` as VNode;
}
