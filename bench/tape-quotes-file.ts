// Simulated quotes beside a tape of `tapeFile`: gzip CSV by contract, then time. Written once per size, and reused.
import { createWriteStream, existsSync, mkdirSync, renameSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { createGzip } from 'node:zlib';
import { exchangeInstant } from '../src/core/domain/market-time.ts';
import { randomFrom } from '../src/intake/sample/market/random.ts';
import { benchMarket, tapeSession } from './tape-market.ts';

const openMs = exchangeInstant(tapeSession, 570);
const sessionMs = 390 * 60_000;

function* lines(quotes: number): Generator<string> {
  const random = randomFrom(20_261_120);
  yield 'ticker,ask_price,bid_price,sequence_number,sip_timestamp\n';
  for (const { contracts, share, upTo } of benchMarket(randomFrom(20_261_119))) {
    for (const [i, { id }] of contracts.entries()) {
      const count = Math.round(quotes * share * (upTo[i]! - (upTo[i - 1] ?? 0)));
      let cents = 50 + Math.floor(random.next() * 900);
      let text = '';
      for (let n = 0; n < count; n++) {
        cents = Math.max(5, cents + Math.floor(random.next() * 5) - 2);
        const ms = openMs + Math.floor((sessionMs * (n + random.next())) / count);
        text += `${id},${(cents + 3) / 100},${cents / 100},${n + 1},${ms}${String(n % 1_000_000).padStart(6, '0')}\n`;
      }
      if (text) yield text;
    }
  }
}

/** The path of a file with about this many quotes, which is written on first use. */
export async function quotesFile(quotes: number): Promise<string> {
  const folder = join(tmpdir(), 'tapegraph-bench-tapes');
  const path = join(folder, `option-quotes-${quotes}.csv.gz`);
  if (existsSync(path)) return path;
  mkdirSync(folder, { recursive: true });
  console.log(`  writing ${path}`);
  const part = `${path}.${process.pid}`;
  await pipeline(Readable.from(lines(quotes)), createGzip({ level: 6 }), createWriteStream(part));
  renameSync(part, path);
  return path;
}
