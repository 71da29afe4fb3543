// Starts the dashboard: the browser's functions are passed to it here.
import { html } from 'htm/preact';
import { hydrate, type VNode } from 'preact';
import { marketLoaded } from '../../client/market-loading.ts';
import { onKeyChange, readKey, sampleKey } from '../../client/stored-key.ts';
import { App } from './app.ts';
import { loadCharts } from './charts/chart.ts';
import { readPalette } from './charts/palette.ts';
import { DashboardController } from './data/dashboard-controller.ts';
import { graphAt } from './data/graph-client.ts';
import { openLive } from './data/live-link.ts';
import { type Visibility, whileVisible } from './data/while-visible.ts';
import { partsInSight } from './panel.ts';
import { listenForKeys } from './shortcuts.ts';
import { addressOf, viewOf } from './view-address.ts';

const main = document.querySelector<HTMLElement>('#main')!;
const now = () => Date.now();
const here = () => viewOf(location, main.dataset.symbol!);

// Changes within this time, ms, are shown together; nobody reads faster.
const batchMs = 80;

/** Runs at the first frame after this time. A hidden page draws no frames: there only the time passes. */
const nextFrame = (run: () => void) =>
  void setTimeout(() => (document.hidden ? run() : requestAnimationFrame(run)), batchMs);

const visibility: Visibility = {
  isHidden: () => document.hidden,
  onChange: (heard) => {
    document.addEventListener('visibilitychange', heard);
    return () => document.removeEventListener('visibilitychange', heard);
  },
};

const controller = new DashboardController({
  ask: graphAt('/graphql', readKey, (resource, init) => fetch(resource, init)),
  liveUrl: `${location.origin.replace(/^http/, 'ws')}/graphql`,
  openLive: whileVisible(openLive, visibility),
  key: readKey,
  view: here(),
  symbols: main.dataset.symbols!.split(' ').filter((symbol) => symbol !== ''),
  latestSession: main.dataset.session!,
  now,
  random: () => Math.random(),
  nextFrame,
  inSight: partsInSight,
  showAddress: (address, symbol, step) => {
    document.title = `${symbol} · Tapegraph`;
    if (step) history.pushState(null, '', address);
  },
});

// An address without a symbol becomes that of the shown symbol.
history.replaceState(null, '', addressOf(here()));
// Read before any change: after one the browser would have to restyle everything first.
const painted = readPalette();
// The server's markup is hydrated, so nothing is drawn twice. It is not moved, because it would be laid out again.
const frame = main.querySelector(`[data-frame="${readKey() === '' ? 'none' : 'stored'}"]`)!;
for (const node of [...main.childNodes]) if (node !== frame) node.remove();
frame.removeAttribute('data-frame');
hydrate(
  html`<${App} controller=${controller} now=${now} sampleKey=${sampleKey()} painted=${painted} readPalette=${readPalette} />` as VNode,
  frame,
);
listenForKeys(controller);
// A typed key changes with every letter: it is used when the typing rests.
let typing: ReturnType<typeof setTimeout> | undefined;
onKeyChange(() => {
  clearTimeout(typing);
  typing = setTimeout(() => controller.keyChanged(), 350);
});
addEventListener('pagehide', () => controller.pause());
addEventListener('pageshow', (event) => event.persisted && controller.reload());
// The streams do not report data that is loaded meanwhile.
document.addEventListener(marketLoaded, () => controller.reload());
addEventListener('popstate', () => controller.show(here(), false));
controller.reload();
// A reader with a key will see charts: their library loads while the figures are requested.
if (readKey() !== '') loadCharts().catch(() => {});
