import { minuteMs } from '../../../domain/units.ts';
import { VendorError } from '../row-format.ts';
import { eventMs, headerLength, priceText, type WriteRow } from './dbn-records.ts';

/** A minute of an instrument, from its first second to the last one so far. Prices are digits. */
interface Minute {
  startMs: number;
  open: string;
  high: string;
  low: string;
  close: string;
  volume: bigint;
}

// Every contract of OPRA has fewer.
const mostOpen = 2_000_000;

const lineOfMinute = (ticker: string, { startMs, open, high, low, close, volume }: Minute) =>
  `${ticker},${open},${high},${low},${close},${volume},${startMs}000000\n`;

/** Makes minutes of seconds, which ascend: a minute is written when its instrument's next one begins, or at the end. */
export function minuteRows(): { row: WriteRow; end: () => string } {
  const minutes = new Map<string, Minute>();
  const row: WriteRow = (bytes, offset, ticker) => {
    const startMs = Math.floor(eventMs(bytes, offset) / minuteMs) * minuteMs;
    const [open, high, low, close] = [0, 8, 16, 24].map((more) => priceText(bytes, offset + headerLength + more));
    const volume = bytes.readBigUInt64LE(offset + 48);
    const known = minutes.get(ticker);
    if (known && startMs < known.startMs)
      throw new VendorError(
        `ts_event: expected ascending seconds of ${ticker}, got ${new Date(startMs).toISOString()}`,
      );
    if (known && startMs === known.startMs) {
      if (!(Number(high) <= Number(known.high))) known.high = high!;
      if (!(Number(low) >= Number(known.low))) known.low = low!;
      known.close = close!;
      known.volume += volume;
      return null;
    }
    minutes.set(ticker, { startMs, open: open!, high: high!, low: low!, close: close!, volume });
    if (minutes.size > mostOpen) throw new VendorError(`instrument_id: expected at most ${mostOpen} instruments`);
    return known ? lineOfMinute(ticker, known) : null;
  };
  return { row, end: () => Array.from(minutes, ([ticker, minute]) => lineOfMinute(ticker, minute)).join('') };
}
