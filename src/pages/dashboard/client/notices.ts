// Notices above or instead of the panels if there is no answer: no key, an invalid one, too many requests, no server,
// an unknown symbol.
import { html } from 'htm/preact';
import type { ComponentChildren, VNode } from 'preact';
import { useEffect, useState } from 'preact/hooks';
import { saveKey } from '../../client/stored-key.ts';
import type { DashboardController } from './data/dashboard-controller.ts';
import type { DashboardState } from './data/dashboard-state.ts';
import type { FailureKind } from './data/graph-client.ts';
import { useEntries } from './data/state-store.ts';
import { tickerOf } from './view-address.ts';

/** A notice: `block` = there is nothing else to show. */
export interface Notice {
  kind: 'key' | 'problem' | 'info';
  block: boolean;
  title: string;
  text: string;
  /** True if a retry may help. */
  retry: boolean;
}

const keyTitles: Partial<Record<FailureKind, string>> = {
  'bad-key': 'This key is not valid',
  'expired-key': 'This key has expired',
};
const titles: Partial<Record<FailureKind, string>> = {
  rate: 'Too many requests',
  away: 'The server does not answer',
  slow: 'The server takes too long',
  server: 'The server could not answer',
  refused: 'The request was rejected',
};

const entries = ['view', 'answer', 'errors', 'failure', 'phase', 'retryAtMs', 'wanted'] as const;
type NoticeEntries = Pick<DashboardState, (typeof entries)[number]>;

function failureNotice({ failure, answer, wanted }: NoticeEntries): Notice | null {
  if (failure === null) return null;
  const keyTitle = keyTitles[failure.kind];
  if (keyTitle) return { kind: 'key', block: true, title: keyTitle, text: failure.message, retry: false };
  const later = wanted && ` ${wanted.symbol} is shown as soon as the budget of this key allows.`;
  const shown = answer === null ? '' : ` The figures shown are from the last answer.${later ?? ''}`;
  return {
    kind: 'problem',
    block: answer === null,
    title: titles[failure.kind] ?? titles.server!,
    text: failure.message + shown,
    retry: true,
  };
}

/** Notice about the symbol as a whole; null = none. */
function symbolNotice(state: NoticeEntries): Notice | null {
  const { view, answer, errors } = state;
  const symbol = answer?.symbol;
  if (tickerOf(view.symbol) === null)
    return {
      kind: 'info',
      block: true,
      title: `${view.symbol || 'That'} is not a ticker`,
      text: 'A ticker looks like SPY or BRK.B. Press / to choose another.',
      retry: false,
    };
  if (!symbol) return null;
  const unknown = errors.some(({ path, code }) => path.length === 2 && path[1] === 'name' && code === 'not_found');
  if (unknown)
    return {
      kind: 'info',
      block: true,
      title: `${view.symbol} is unknown`,
      text: 'It is neither in the registry nor in the ticker directory. Press / to choose another.',
      retry: false,
    };
  if (symbol.access?.allowed !== false) return null;
  const { reason, requiredTier } = symbol.access;
  return reason === 'attestation_required'
    ? {
        kind: 'info',
        block: false,
        title: `${view.symbol} needs a declaration`,
        text: 'Index products require a non-professional market-data declaration: POST /v2/account/classification.',
        retry: false,
      }
    : {
        kind: 'info',
        block: false,
        title: `${view.symbol} needs the ${requiredTier} tier`,
        text: `Your key is served under the ${answer.me.tier} tier.`,
        retry: false,
      };
}

/** The notice of a state; null = none. */
export function noticeOf(state: NoticeEntries): Notice | null {
  if (state.phase === 'no-key')
    return {
      kind: 'key',
      block: true,
      title: 'An API key is needed',
      text: 'The dashboard queries the graph with your key. The key is stored in this browser until you remove it with Forget, at the top of the page.',
      retry: false,
    };
  return failureNotice(state) ?? symbolNotice(state);
}

/** Seconds until `atMs`, counting down; null without one. */
function useCountdown(atMs: number | null, now: () => number): number | null {
  const [left, setLeft] = useState<number | null>(null);
  useEffect(() => {
    if (atMs === null) {
      setLeft(null);
      return;
    }
    const tick = () => setLeft(Math.max(0, Math.ceil((atMs - now()) / 1000)));
    tick();
    const timer = setInterval(tick, 1000);
    return () => clearInterval(timer);
  }, [atMs]);
  return left;
}

function KeyForm({ sampleKey }: { sampleKey: string }): VNode {
  const [typed, setTyped] = useState('');
  return html`<form class="key-form" autocomplete="off" onSubmit=${(event: Event) => {
    event.preventDefault();
    if (typed.trim() !== '') saveKey(typed);
  }}>
    <label class="visually-hidden" for="dashboard-key">API key</label>
    <input id="dashboard-key" type="password" placeholder="tg_live_…" autocomplete="off" spellcheck="false" value=${typed} onInput=${(event: Event) => setTyped((event.target as HTMLInputElement).value)} />
    <button class="primary" type="submit">Show the dashboard</button>
    ${sampleKey === '' ? html`<a href="/docs/key">Getting a key</a>` : html`<button type="button" onClick=${() => saveKey(sampleKey)}>Use the sample key</button>`}
  </form>` as VNode;
}

/** The notice, with the available actions. `sampleKey` = a key that may be used; '' = none. */
export function NoticeBar({
  controller,
  now,
  sampleKey,
}: {
  controller: DashboardController;
  now: () => number;
  sampleKey: string;
}): VNode | null {
  const state = useEntries(controller.store, entries);
  const left = useCountdown(state.retryAtMs, now);
  const notice = noticeOf(state);
  if (notice === null) return null;
  const { kind, block, title, text, retry } = notice;
  const children: ComponentChildren = html`
    <div><b>${title}</b><p>${text}${left === null ? '' : ` Trying again in ${left} s.`}</p></div>
    ${kind === 'key' ? html`<${KeyForm} sampleKey=${sampleKey} />` : null}
    ${retry ? html`<button type="button" onClick=${() => controller.reload()}>Try now</button>` : null}`;
  return html`<div class=${`notice ${block ? 'block' : ''}`} data-kind=${kind} role=${kind === 'info' ? 'status' : 'alert'}>${children}</div>` as VNode;
}
