// Starts the dashboard: what it needs of the browser is taken here and handed on.
import { html } from 'htm/preact';
import { render, type VNode } from 'preact';
import { onKeyChange, readKey } from '../../client/key.ts';
import { addressOf, viewOf } from './address.ts';
import { App } from './app.ts';
import { Desk } from './desk.ts';
import { graphAt } from './graph.ts';
import { listenForKeys } from './shortcuts.ts';

const place = document.querySelector<HTMLElement>('#main')!;
const now = () => Date.now();
const here = () => viewOf(location, place.dataset.symbol!);

/** A hidden page draws no frames: its messages are taken a few times a second. */
const nextFrame = (run: () => void) => void (document.hidden ? setTimeout(run, 250) : requestAnimationFrame(run));

const desk = new Desk({
  ask: graphAt('/graphql', readKey, (resource, init) => fetch(resource, init)),
  liveUrl: '/graphql/stream',
  key: readKey,
  view: here(),
  latestSession: place.dataset.session!,
  now,
  random: () => Math.random(),
  nextFrame,
  showAddress: (address, symbol, step) => {
    document.title = `${symbol} · Tapegraph`;
    if (step) history.pushState(null, '', address);
  },
});

// An address without a symbol becomes that of the symbol that is shown.
history.replaceState(null, '', addressOf(here()));
place.replaceChildren();
render(html`<${App} desk=${desk} now=${now} />` as VNode, place);
listenForKeys(desk);
onKeyChange(() => desk.keyChanged());
addEventListener('popstate', () => desk.show(here(), false));
desk.reload();
