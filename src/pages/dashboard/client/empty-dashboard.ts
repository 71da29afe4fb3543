// The dashboard before any request: drawn by the server into the page, and the initial state in the browser.
import { html } from 'htm/preact';
import type { VNode } from 'preact';
import { App } from './app.ts';
import { noPalette } from './charts/palette.ts';
import { DashboardController } from './data/dashboard-controller.ts';
import type { FrameParts } from './frame-inputs.ts';
import { viewOf } from './view-address.ts';

const nothing = () => {};
const never = () => {
  throw new Error('A frame asks for nothing.');
};

/** The dashboard as initially drawn. */
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
