// Changes of the shown rows by live messages. Each is idempotent and independent of order.
import type {
  Bar,
  BarColumns,
  CrossSectionPage,
  GexCapture,
  GexColumn,
  GexHistory,
  Quote,
} from '../../../../../generated/pages/operation-types.ts';

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
