import type { ECharts, EChartsOption } from 'echarts';
import { whileInSight } from '../panel.ts';

// The part of an axis that a chart shows.

/** The positions that a chart shows of an axis, the first and the last. */
interface Window {
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

// A chart that is made once and changed in place.

/** The reader's place in a chart: as shown at first, where they moved to, or behind the end. */
export type Place = 'first' | 'moved' | 'behind';

/** Contents of a chart. */
interface Drawing {
  option: EChartsOption;
  /** Changes when what is shown is another thing (symbol, length of candles), so that zoom and all start afresh. */
  subject: string;
  /**
   * Length of the axis that a window moves along: one that shows its end moves with it. Undefined: the window stays
   * where it is.
   */
  length: number | undefined;
}

// Charts are drawn at most so often, however fast the data comes.
const shortestMs = 400;

/**
 * A chart and the reader's place in it, which `placed` gets whenever it changes. It draws the last contents given,
 * while it is in an element and in sight.
 */
export class DrawnChart {
  readonly #placed: (place: Place) => void;
  #chart: ECharts | null = null;
  #next: Drawing | null = null;
  #place: Place = 'first';
  // The chart on the screen.
  #drawnSubject: string | null = null;
  #drawnLength: number | undefined;
  #drawnAtMs = 0;
  /** Timer of the next drawing; 0 = none. */
  #timer = 0;
  #isInSight = false;
  /** True if it was to be drawn and is not in sight. */
  #waits = false;

  constructor(placed: (place: Place) => void) {
    this.#placed = placed;
  }

  /** Makes the chart in an element, whose room it takes; returns what takes it off again. */
  make({ init }: typeof import('./chart-library.ts'), element: HTMLElement): () => void {
    const chart = init(element, null, { renderer: 'canvas' });
    this.#chart = chart;
    chart.on('datazoom', () => {
      const end = this.#drawnLength;
      this.#goTo(end !== undefined && windowOf(chart.getOption()).endValue < end - 1 ? 'behind' : 'moved');
    });
    chart.getZr().on('dblclick', () => this.reset());
    const unsize = whileSized(chart, element);
    const unwatch = whileInSight(element, (inSight) => {
      this.#isInSight = inSight;
      if (inSight) setTimeout(() => this.#waits && this.#draw());
    });
    return () => {
      unwatch();
      clearTimeout(this.#timer);
      unsize();
      dispose(chart);
      this.#chart = null;
    };
  }

  /** Draws other contents soon. */
  show(next: Drawing): void {
    this.#next = next;
    const draw = () => this.#draw();
    if (this.#drawnSubject !== next.subject) {
      // Each chart in a task of its own: other work comes between them.
      clearTimeout(this.#timer);
      this.#timer = window.setTimeout(draw);
    } else if (this.#timer === 0) {
      this.#timer = window.setTimeout(draw, Math.max(0, this.#drawnAtMs + shortestMs - performance.now()));
    }
  }

  /** Shows all again, as at first. */
  reset(): void {
    this.#chart?.setOption(this.#next!.option, { notMerge: true });
    this.#drawnLength = this.#next!.length;
    this.#goTo('first');
  }

  /** Moves the window to the end of the axis. */
  showLatest(): void {
    const { startValue, endValue } = windowOf(this.#chart!.getOption());
    const end = this.#drawnLength! - 1;
    this.#chart!.dispatchAction({ type: 'dataZoom', startValue: startValue + end - endValue, endValue: end });
  }

  #goTo(place: Place): void {
    this.#place = place;
    this.#placed(place);
  }

  #draw(): void {
    this.#timer = 0;
    // A chart that nobody sees is drawn when it comes into sight.
    this.#waits = !this.#isInSight;
    if (!this.#isInSight) return;
    this.#drawnAtMs = performance.now();
    const next = this.#next!;
    if (this.#drawnSubject === next.subject) this.#change(next);
    else {
      this.#drawnSubject = next.subject;
      this.#goTo('first');
      this.#chart?.setOption(next.option, { notMerge: true });
    }
    this.#drawnLength = next.length;
  }

  /** Changes what is drawn, but not the reader's place. */
  #change(next: Drawing): void {
    if (!this.#chart) return;
    const { dataZoom: _first, ...changed } = next.option;
    const window = this.#nextWindow(this.#chart, next);
    const option = window === null ? changed : { ...changed, dataZoom: [window] };
    this.#chart.setOption(option, { replaceMerge: ['series', 'yAxis', 'xAxis'], lazyUpdate: true });
  }

  /**
   * The window of a chart that is drawn again: the first one as it is now, or the reader's. It is said by positions: as
   * a share of the axis, it would move with each one that is added.
   */
  #nextWindow(chart: ECharts, { option, length }: Drawing): Window | null {
    const before = this.#drawnLength;
    if (length === undefined || before === undefined) return null;
    return this.#place === 'first' ? windowOf(option) : followedWindow(windowOf(chart.getOption()), before, length);
  }
}

/** Gives a chart the size of its element, whenever that changes; returns what ends that. */
function whileSized(chart: ECharts, element: HTMLElement): () => void {
  // It is also called at once, when the chart has its size already.
  const sized = new ResizeObserver(() => {
    const { clientWidth, clientHeight } = element;
    if (clientWidth !== chart.getWidth() || clientHeight !== chart.getHeight()) chart.resize();
  });
  sized.observe(element);
  return () => sized.disconnect();
}

function dispose(chart: ECharts): void {
  // A half-drawn chart would be gone on with after its canvas is gone: drawing nothing ends it.
  chart.clear();
  chart.getZr().flush();
  chart.dispose();
}
