// The subscriptions of a view, and the changes by their messages.

import type {
  LargeTrade,
  LiveBars,
  LiveCrossSection,
  LiveGex,
  LiveQuotes,
  LiveTrades,
} from '../../../../../generated/pages/operation-types.ts';
import { anyTrade } from '../flow/trade-filter.ts';
import { type DashboardState, isLocked, quotedSymbols } from './dashboard-state.ts';
import type { LiveOperation } from './live-link.ts';
import { laterCapture, laterSnapshot, withBar, withCapture, withQuote } from './live-rows.ts';
import {
  barsSubscription,
  crossSectionSubscription,
  gexSubscription,
  quotesSubscription,
  tradesSubscription,
} from './operations.ts';
import { withLiveTrades } from './trade-list.ts';

/** Data of the subscriptions, by their fields. */
type LiveData = LiveQuotes & LiveBars & LiveGex & LiveTrades & LiveCrossSection;

/** A message of one of the subscriptions. */
export type LiveMessage = { [Kind in keyof LiveData]: { kind: Kind; row: LiveData[Kind] } }[keyof LiveData];

/** A message, and the id of its operation. */
export interface HeardMessage {
  operation: string;
  message: LiveMessage;
}

const texts: Record<LiveMessage['kind'], string> = {
  quotes: quotesSubscription,
  bars: barsSubscription,
  gexCaptured: gexSubscription,
  largeTrades: tradesSubscription,
  crossSection: crossSectionSubscription,
};

/** The subscriptions of the shown view, none for a past session; their messages are passed to `put`. */
export function liveOperations(state: DashboardState, put: (heard: HeardMessage) => void): LiveOperation[] {
  const { symbol, session, timeframe } = state.view;
  if (session !== null) return [];
  const variables: Record<LiveMessage['kind'], Record<string, unknown>> = {
    quotes: { quotes: quotedSymbols(state) },
    bars: { symbol, timeframe },
    gexCaptured: { symbol },
    largeTrades: { symbol },
    crossSection: { symbol },
  };
  const ofFlow: readonly string[] = ['largeTrades', 'crossSection'] satisfies LiveMessage['kind'][];
  const kinds = (Object.keys(texts) as LiveMessage['kind'][]).filter(
    (kind) => !(isLocked(state, 'flow') && ofFlow.includes(kind)),
  );
  return kinds.map((kind) => {
    const id = `${kind} ${JSON.stringify(variables[kind])}`;
    return {
      id,
      query: texts[kind],
      variables: variables[kind],
      // A field that failed is null: there is nothing to show.
      onData: (data) => data[kind] != null && put({ operation: id, message: { kind, row: data[kind] } as LiveMessage }),
    };
  });
}

function withTrades(
  { trades, filteredTrades, tradeFilter }: DashboardState,
  come: readonly LargeTrade[],
): Partial<DashboardState> {
  return {
    trades: withLiveTrades(trades, come, anyTrade),
    filteredTrades: filteredTrades && withLiveTrades(filteredTrades, come, tradeFilter),
  };
}

/** Changes of the state by messages, in the order of arrival. */
export function withMessages(state: DashboardState, heard: readonly HeardMessage[]): Partial<DashboardState> {
  let { quotes, bars, capture, history, crossSection, capturedSession } = state;
  const trades: LargeTrade[] = [];
  for (const { message } of heard) {
    if (message.kind === 'quotes') quotes = withQuote(quotes, message.row);
    else if (message.kind === 'largeTrades') trades.push(message.row);
    else if (message.kind === 'bars') bars = bars && { ...bars, columns: withBar(bars.columns, message.row) };
    else if (message.kind === 'gexCaptured') {
      capture = laterCapture(capture, message.row);
      capturedSession = capture.sessionDate;
      if (state.loaded.includes('heat')) history = withCapture(history, message.row);
    } else crossSection = laterSnapshot(crossSection, { snapshot: message.row, meta: { note: null } });
  }
  return {
    quotes,
    bars,
    capture,
    history,
    crossSection,
    capturedSession,
    ...(trades.length > 0 && withTrades(state, trades)),
  };
}
