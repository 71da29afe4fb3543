// The dashboard before anything was asked: what the server draws into the page, and what the browser begins with.
import { html } from 'htm/preact';
import type { VNode } from 'preact';
import { viewOf } from './address.ts';
import { App } from './app.ts';
import { noPalette } from './charts/palette.ts';
import { DashboardController } from './data/dashboard-controller.ts';

/** The server's part of a page. */
export interface FrameParts {
  /** Path and query of the page's address. */
  pathname: string;
  search: string;
  /** The symbol of an address that names none. */
  symbol: string;
  /** Tickers with data: the list of who has none of their own. */
  symbols: readonly string[];
  latestSession: string;
  /** True if the browser has a key: panels that wait for figures, else what asks for a key. */
  hasKey: boolean;
  /** The sample market's key; '' = none is shown. */
  sampleKey: string;
}

const nothing = () => {};
const never = () => {
  throw new Error('A frame asks for nothing.');
};

/** The dashboard as it is drawn at first. */
export function frame({ symbol, symbols, latestSession, hasKey, sampleKey, ...address }: FrameParts): VNode {
  const controller = new DashboardController({
    ask: never,
    liveUrl: '',
    openLive: never,
    key: () => (hasKey ? 'stored' : ''),
    view: viewOf(address, symbol),
    symbols,
    latestSession,
    now: () => 0,
    random: () => 0,
    nextFrame: nothing,
    inSight: () => [],
    showAddress: nothing,
  });
  return html`<${App} controller=${controller} now=${() => 0} sampleKey=${sampleKey} painted=${noPalette} readPalette=${() => noPalette} />` as VNode;
}
