import type { Request } from 'express';
import type { VNode } from 'preact';
import { renderToString } from 'preact-render-to-string';
import { latestSession } from '../../graphql/examples.ts';
import { type Html, html, trusted } from '../html.ts';
import type { SiteState } from '../market-note.ts';
import type { Page } from '../page-document.ts';
import type { PagesParts } from '../pages-dependencies.ts';
import type { FrameParts } from './client/frame-inputs.ts';

// Shown if nothing is stored.
const usualSymbol = 'SPY';

/**
 * `/dashboard/:symbol`: an overview of a symbol, queried from the graph with the user's key and updated by streams.
 * `/dashboard` shows the default symbol.
 */
export async function dashboardPage(
  { now, firstSymbols }: PagesParts,
  request: Request,
  { sample }: SiteState,
): Promise<Page> {
  const asked = request.params.symbol as string | undefined;
  const symbols = await firstSymbols();
  const symbol = asked?.toUpperCase() ?? symbols[0] ?? usualSymbol;
  const session = latestSession(now());
  const { pathname, search } = new URL(request.originalUrl, 'http://localhost');
  const sampleKey = sample?.key ?? '';
  const frames = await dashboardFrames({ pathname, search, symbol, symbols, latestSession: session, sampleKey });
  return {
    title: `${symbol} · Tapegraph`,
    description: `${symbol}: price, dealer gamma, option flow, implied volatility and off-exchange trading, live.`,
    current: '/dashboard',
    // The server's clock, not the browser's, decides which session is current.
    body: html`<main id="main" class="dashboard" data-symbol="${symbol}" data-symbols="${symbols.join(' ')}" data-session="${session}">${frames}<noscript><p class="no-script">The dashboard needs JavaScript, which is switched off. The same figures are available from <a href="/docs">the API</a>.</p></noscript></main>`,
    styles: ['dashboard/dashboard.css'],
    scripts: ['dashboard/client/main.js'],
  };
}

/**
 * The dashboard as initially drawn, with and without a key: the style sheet shows one of the two by the browser's
 * storage. Figures load later, with the reader's key.
 */
async function dashboardFrames(parts: Omit<FrameParts, 'hasKey'>): Promise<Html> {
  // `as string` keeps TypeScript from checking the import: browser code has other global types than this file.
  const { frame } = (await import('./client/empty-dashboard.ts' as string)) as { frame: (parts: FrameParts) => VNode };
  return html`${[true, false].map(
    (hasKey) =>
      html`<div data-frame="${hasKey ? 'stored' : 'none'}">${trusted(renderToString(frame({ ...parts, hasKey })))}</div>`,
  )}`;
}
