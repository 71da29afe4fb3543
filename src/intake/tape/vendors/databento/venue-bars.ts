import { VendorError } from '../../formats/vendor.ts';
import { at, eventMs, headerLength, priceText, type WriteRow } from './dbn-file.ts';

/** A bar of an instrument at a venue. Prices are digits. */
interface VenueBar {
  publisher: number;
  /** Start of the last record in it, epoch ms. */
  lastMs: number;
  open: string;
  high: string;
  low: string;
  close: string;
  volume: bigint;
}

/** A bar of an instrument, of all venues so far. */
interface OpenBar {
  startMs: number;
  venues: VenueBar[];
}

// Every contract of OPRA has fewer.
const mostOpen = 2_000_000;

/** Adds the later bar or second `next` of the same venue. */
function extend(known: VenueBar, next: VenueBar): void {
  if (!(Number(next.high) <= Number(known.high))) known.high = next.high;
  if (!(Number(next.low) >= Number(known.low))) known.low = next.low;
  known.close = next.close;
  known.volume += next.volume;
  known.lastMs = next.lastMs;
}

/**
 * The bar of several venues (methodology 13): volumes are summed, the high is the highest and the low the lowest; open
 * and close are those of the venue with the largest volume, of equal ones the first.
 */
function joined([first, ...others]: readonly VenueBar[]): VenueBar {
  const bar = { ...first! };
  let largest = bar.volume;
  for (const other of others) {
    const { close } = bar;
    extend(bar, other);
    bar.close = close;
    if (other.volume <= largest) continue;
    [largest, bar.open, bar.close] = [other.volume, other.open, other.close];
  }
  return bar;
}

function lineOf(ticker: string, { startMs, venues }: OpenBar): string {
  const { open, high, low, close, volume } = joined(venues);
  return `${ticker},${open},${high},${low},${close},${volume},${startMs}000000\n`;
}

function barOf(bytes: Buffer, offset: number, lastMs: number): VenueBar {
  const [open, high, low, close] = [0, 8, 16, 24].map((more) => priceText(bytes, offset + headerLength + more));
  const [publisher, volume] = [bytes.readUInt16LE(offset + at.publisher), bytes.readBigUInt64LE(offset + 48)];
  return { publisher, lastMs, open: open!, high: high!, low: low!, close: close!, volume };
}

/**
 * Makes one bar of the records of all venues with one start. A bar is written when its instrument's next one begins, or
 * at the end. `joinMs`: shorter records, which ascend, are joined to bars of this length, ms.
 */
export function venueBars(joinMs: number | null = null): { row: WriteRow; end: () => string } {
  const open = new Map<string, OpenBar>();
  const row: WriteRow = (bytes, offset, ticker) => {
    const tsMs = eventMs(bytes, offset);
    const startMs = joinMs === null ? tsMs : tsMs - (tsMs % joinMs);
    const bar = barOf(bytes, offset, tsMs);
    const known = open.get(ticker);
    if (known && joinMs !== null && startMs < known.startMs)
      throw new VendorError(`ts_event: expected ascending bars of ${ticker}, got ${new Date(tsMs).toISOString()}`);
    if (known && startMs === known.startMs) {
      const own = known.venues.find(({ publisher }) => publisher === bar.publisher);
      if (own && tsMs <= own.lastMs)
        throw new VendorError(
          `ts_event: two bars of ${ticker} of publisher ${bar.publisher} start at ${new Date(tsMs).toISOString()}`,
        );
      if (own) extend(own, bar);
      else known.venues.push(bar);
      return null;
    }
    open.set(ticker, { startMs, venues: [bar] });
    if (open.size > mostOpen) throw new VendorError(`instrument_id: expected at most ${mostOpen} instruments`);
    return known ? lineOf(ticker, known) : null;
  };
  return { row, end: () => Array.from(open, ([ticker, bar]) => lineOf(ticker, bar)).join('') };
}
