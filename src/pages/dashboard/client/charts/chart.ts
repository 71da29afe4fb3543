// A chart that is made once and changed in place.
import type { ECharts, EChartsOption } from 'echarts';
import { html } from 'htm/preact';
import type { VNode } from 'preact';
import { useEffect, useRef, useState } from 'preact/hooks';
import { whileInSight } from '../panels-in-sight.ts';

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

/** The positions that a chart shows of an axis, the first and the last. */
export interface Window {
  startValue: number;
  endValue: number;
}

/** A window on an axis that was `before` long and is `length` long now: one that showed its end shows it again. */
export function followedWindow({ startValue, endValue }: Window, before: number, length: number): Window {
  const on = endValue >= before - 1 ? length - 1 - endValue : 0;
  return { startValue: startValue + on, endValue: endValue + on };
}

/** The window that an option says. */
function windowOf(option: object): Window {
  const [{ startValue, endValue }] = (option as { dataZoom: [Window] }).dataZoom;
  return { startValue, endValue };
}

// Charts are drawn at most so often, however fast the data comes.
const shortestMs = 400;

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
  const chart = useRef<ECharts | null>(null);
  const drawn = useRef({
    subject: '',
    atMs: 0,
    timer: 0,
    option,
    length,
    // Props that the chart on the screen was drawn with.
    drawnLength: length,
    inSight: false,
    waits: () => {},
  });
  // The reader's place: as shown at first, where they moved to, or behind the end.
  const place = useRef<'first' | 'moved' | 'behind'>('first');
  const [shownPlace, setShownPlace] = useState(place.current);
  const goTo = (to: typeof place.current) => {
    place.current = to;
    setShownPlace(to);
  };
  const [failed, setFailed] = useState(false);
  const reset = useRef(() => {});
  reset.current = () => {
    const state = drawn.current;
    chart.current?.setOption(state.option, { notMerge: true });
    state.drawnLength = state.length;
    goTo('first');
  };
  const shownWindow = () => windowOf(chart.current!.getOption());
  const latest = () => {
    const { startValue, endValue } = shownWindow();
    const end = drawn.current.drawnLength! - 1;
    chart.current!.dispatchAction({ type: 'dataZoom', startValue: startValue + end - endValue, endValue: end });
  };
  /**
   * The window of a chart that is drawn again: the first one as it is now, or the reader's. It is said by positions: as
   * a share of the axis, it would move with each one that is added.
   */
  const nextWindow = (): Window | null => {
    const { option: next, length: now, drawnLength: before } = drawn.current;
    if (now === undefined || before === undefined) return null;
    return place.current === 'first' ? windowOf(next) : followedWindow(shownWindow(), before, now);
  };

  const make = ({ init }: typeof import('./chart-library.ts')) => {
    // The observers may call once more after the element is taken off the page.
    const element = container.current!;
    const made = init(element, null, { renderer: 'canvas' });
    chart.current = made;
    made.on('datazoom', () => {
      const end = drawn.current.drawnLength;
      goTo(end !== undefined && shownWindow().endValue < end - 1 ? 'behind' : 'moved');
    });
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
      // A half-drawn chart would be gone on with after its canvas is gone: drawing nothing ends it.
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
    state.length = length;
    const draw = () => {
      state.timer = 0;
      // A chart that nobody sees is drawn when it comes into sight.
      state.waits = state.inSight ? () => {} : draw;
      if (!state.inSight) return;
      state.atMs = performance.now();
      const afresh = state.subject !== subject;
      state.subject = subject;
      if (afresh) goTo('first');
      if (afresh) chart.current?.setOption(state.option, { notMerge: true });
      else {
        const { dataZoom: _first, ...changed } = state.option;
        const window = chart.current && nextWindow();
        const next = window === null ? changed : { ...changed, dataZoom: [window] };
        chart.current?.setOption(next, { replaceMerge: ['series', 'yAxis', 'xAxis'], lazyUpdate: true });
      }
      state.drawnLength = state.length;
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
    ${
      shownPlace === 'first'
        ? null
        : html`<div class="chart-ways">
      ${shownPlace === 'behind' ? html`<button type="button" class="chip" title="Go to the latest, and stay with it" onClick=${latest}>Latest</button>` : null}
      <button type="button" class="chip" title="Show all of it again; a double click does too" onClick=${() => reset.current()}>Reset</button>
    </div>`
    }` as VNode;
}
