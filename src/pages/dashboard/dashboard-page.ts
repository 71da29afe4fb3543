import type { Request } from 'express';
import { latestSession } from '../../graphql/examples.ts';
import { html } from '../html.ts';
import type { SiteState } from '../market-note.ts';
import type { Page } from '../page-document.ts';
import type { PagesParts } from '../pages-dependencies.ts';
import { dashboardFrames } from './prerender.ts';

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
