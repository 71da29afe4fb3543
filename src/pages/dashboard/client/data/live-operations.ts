// The subscriptions of a view, and the changes by their messages.
import type {
  Bar,
  BarColumns,
  CrossSectionPage,
  GexCapture,
  GexColumn,
  GexHistory,
  LargeTrade,
  LiveBars,
  LiveCrossSection,
  LiveGex,
  LiveQuotes,
  LiveTrades,
  Quote,
} from '../../../../../generated/pages/operation-types.ts';
import { anyTrade } from '../flow/trade-filter.ts';
import { type DashboardState, isLocked, quotedSymbols } from './dashboard-state.ts';
import type { LiveOperation } from './live-link.ts';
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
type LiveMessage = { [Kind in keyof LiveData]: { kind: Kind; row: LiveData[Kind] } }[keyof LiveData];

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

// Changes of the shown rows by live messages. Each is idempotent and independent of order.

/** Columns with a bar inserted: a new one at the end, the one in progress replaced by the one with more volume. */
export function withBar(columns: BarColumns, bar: Bar): BarColumns {
  const { tsMs, volume } = columns;
  let at = tsMs.length;
  while (at > 0 && tsMs[at - 1]! > bar.tsMs) at--;
  const replaces = at > 0 && tsMs[at - 1] === bar.tsMs;
  if (replaces && volume[at - 1]! > bar.volume) return columns;
  const put = (values: number[], value: number) => values.toSpliced(replaces ? at - 1 : at, replaces ? 1 : 0, value);
  return {
    tsMs: put(tsMs, bar.tsMs),
    open: put(columns.open, bar.open),
    high: put(columns.high, bar.high),
    low: put(columns.low, bar.low),
    close: put(columns.close, bar.close),
    volume: put(volume, bar.volume),
  };
}

/** Columns with a further page appended. */
export function withPage(columns: BarColumns, page: BarColumns): BarColumns {
  const joined = (name: keyof BarColumns) => [...columns[name], ...page[name]];
  return {
    tsMs: joined('tsMs'),
    open: joined('open'),
    high: joined('high'),
    low: joined('low'),
    close: joined('close'),
    volume: joined('volume'),
  };
}

/** Quotes with a new one; one older than the known one changes nothing. */
export function withQuote(quotes: Readonly<Record<string, Quote>>, quote: Quote): Readonly<Record<string, Quote>> {
  const known = quotes[quote.symbol];
  if (known?.eventTsMs != null && quote.eventTsMs != null && quote.eventTsMs < known.eventTsMs) return quotes;
  return { ...quotes, [quote.symbol]: quote };
}

/** The later of two captures. */
export function laterCapture(known: GexCapture | null, come: GexCapture): GexCapture {
  return known !== null && known.capturedAt > come.capturedAt ? known : come;
}

/** A session's captures with one more inserted; a capture of another session starts that session's list. */
export function withCapture(history: GexHistory | null, capture: GexCapture): GexHistory {
  const column: GexColumn = { capturedAt: capture.capturedAt, spot: capture.spot, strikes: capture.strikes };
  if (history === null || history.sessionDate < capture.sessionDate)
    return {
      sessionDate: capture.sessionDate,
      captures: [column],
      meta: { sessionOpen: null, sessionClose: null },
    };
  if (history.sessionDate > capture.sessionDate) return history;
  const captures = [...history.captures.filter(({ capturedAt }) => capturedAt !== capture.capturedAt), column];
  return { ...history, captures: captures.sort((a, b) => a.capturedAt - b.capturedAt) };
}

/** The later snapshot of the later session. */
export function laterSnapshot(known: CrossSectionPage | null, come: CrossSectionPage): CrossSectionPage {
  const before = known?.snapshot;
  const now = come.snapshot;
  if (!before) return come;
  if (!now) return known!;
  if (before.coverage.sessionDate !== now.coverage.sessionDate)
    return before.coverage.sessionDate > now.coverage.sessionDate ? known! : come;
  return before.seq > now.seq ? known! : come;
}
