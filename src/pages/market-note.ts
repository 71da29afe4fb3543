import { marketClock } from '../domain/market-clock.ts';
import { type Html, html } from './html.ts';

/** The sample market that a server runs. */
export interface SampleMarket {
  /** A key that can read it; null if the key must not be shown for this request. */
  key: string | null;
  /** How much of it is stored, whole percent, while it is loaded; null once it is whole. */
  loading: { percent: number; hasLatest: boolean } | null;
}

/** What pages say of the market: whether it is the sample, and the server's clock, epoch ms. */
export interface SiteState {
  sample: SampleMarket | null;
  nowMs: number;
}

const newYork = { timeZone: 'America/New_York' } as const;
const day = new Intl.DateTimeFormat('en-US', { ...newYork, weekday: 'short', month: 'short', day: 'numeric' });
const dayAndTime = new Intl.DateTimeFormat('en-US', {
  ...newYork,
  weekday: 'short',
  month: 'short',
  day: 'numeric',
  hour: '2-digit',
  minute: '2-digit',
  hourCycle: 'h23',
});

/** Lets the sample market trade while the real one is closed, as typed in a shell. */
export const alwaysOpenCommand = 'npm start -- --always-open';

/** What every page of the sample market says below its header; null = the market is not the sample. */
export function marketNote({ sample, nowMs }: SiteState): Html | null {
  if (sample === null) return null;
  const { isOpen, openMs, nextOpenMs } = marketClock(nowMs);
  const phase = isOpen
    ? html`Trading the session of ${day.format(openMs)}.`
    : html`The market is closed until ${dayAndTime.format(nextOpenMs)} New York time. To let it trade now, start the server with <code>${alwaysOpenCommand}</code>`;
  const { loading } = sample;
  const missing =
    loading !== null &&
    html` <span>${loading.hasLatest ? 'The history before the latest session' : 'The latest session'} was still loading when this page was sent (${loading.percent}%).</span>`;
  return html`<aside class="market-note" aria-label="Sample market"><b>Sample market</b>: all prices are simulated. ${phase}${missing}</aside>`;
}
