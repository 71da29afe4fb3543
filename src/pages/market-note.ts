import { marketClock } from '../core/domain/market-clock.ts';
import { type Html, html } from './html.ts';

/** The sample market of a server. */
export interface SampleMarket {
  /** A key that can read it; null if it must not be shown for this request. */
  key: string | null;
  /** Stored share, whole percent, while it loads; null once it is complete. */
  loading: { percent: number; hasLatest: boolean } | null;
}

/** State of the market for pages: the sample market, if any, and the server's clock, epoch ms. */
export interface SiteState {
  sample: SampleMarket | null;
  nowMs: number;
}

/** A format of instants in New York, which loads its locale when it is first used. */
function newYorkFormat(options: Intl.DateTimeFormatOptions): (atMs: number) => string {
  let format: Intl.DateTimeFormat | null = null;
  return (atMs) => {
    format ??= new Intl.DateTimeFormat('en-US', { timeZone: 'America/New_York', ...options });
    return format.format(atMs);
  };
}

const day = { weekday: 'short', month: 'short', day: 'numeric' } as const;
const shownDay = newYorkFormat(day);
const shownTime = newYorkFormat({ ...day, hour: '2-digit', minute: '2-digit', hourCycle: 'h23' });

/** The shell command that lets the sample market trade while the real one is closed. */
export const alwaysOpenCommand = 'npm start -- --always-open';

/**
 * Note below the header of every page of the sample market; null = no price is simulated. client/market-loading.ts
 * updates the loading progress.
 */
export function marketNote({ sample, nowMs }: SiteState): Html | null {
  if (sample === null) return null;
  const { isOpen, openMs, nextOpenMs } = marketClock(nowMs);
  const phase = isOpen
    ? html`Trading the session of ${shownDay(openMs)}.`
    : html`The market is closed until ${shownTime(nextOpenMs)} New York time. To let it trade now, start the server with <code>${alwaysOpenCommand}</code>.`;
  const { loading } = sample;
  const missing =
    loading !== null &&
    html` <span id="market-loading">Loading the ${loading.hasLatest ? 'history' : 'latest session'} of the sample market: ${loading.percent}%.</span>`;
  return html`<aside class="market-note" aria-label="Sample market"><b>Sample market</b>: all prices are simulated. ${phase}${missing}</aside>`;
}
