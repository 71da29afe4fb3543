import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { exchangeInstant } from '../../src/core/domain/market-time.ts';
import { barHeader, dayFile, dayHistoryFile, minuteFile } from '../../src/intake/sample/market/bar-files.ts';
import { chainFile, sessionChain } from '../../src/intake/sample/market/chain-file.ts';
import { liveTapeLines } from '../../src/intake/sample/market/live-tape.ts';
import { optionBarFile } from '../../src/intake/sample/market/options/option-bar-file.ts';
import { samplePrices } from '../../src/intake/sample/market/prices.ts';
import { sampleSymbolOf } from '../../src/intake/sample/market/universe.ts';
import { recordsOf, sampleTapes } from '../support/tapes/sample-tapes.ts';

/** Sessions of the files: the first has bars alone, two have tapes, and the last comes live. */
export const fileSessions = ['2026-11-13', '2026-11-16', '2026-11-17', '2026-11-18'] as const;
const [barred, first, second, live] = fileSessions;

const symbols = ['SPX', 'SPY', 'NVDA', 'TSLA'];
const shape = { optionPrints: 1500, plants: 40, stockPrints: 400, symbols };
/** The night after the last session, New York: all of them are over. */
export const filesOverMs = exchangeInstant('2026-11-19', 60);

/** Vendor files of a small market, of every dataset, in a folder. */
export interface VendorFiles {
  path(name: string): string;
  /** The last session as a live tape, up to noon. */
  liveTape: string;
  /** An option chain as the source of `capture chains` gives it. */
  chainJson: string;
}

function chainJson(): string {
  const option = (right: string, strike: number) => ({
    option: `NVDA261218${right}00${strike}000`,
    bid: 5,
    ask: 5.2,
    open_interest: strike,
    iv: 0.2,
  });
  const options = [170, 180, 190].flatMap((strike) => [option('C', strike), option('P', strike)]);
  return JSON.stringify({
    timestamp: '2026-11-18 19:31:00',
    data: { options, current_price: 180, prev_day_close: 179 },
  });
}

/** Contract day aggregates, as the tape has them but for one contract. */
function dayAggregates(trades: string, session: string): string {
  const volumes = new Map<string, number>();
  for (const { ticker, size } of recordsOf(trades)) volumes.set(ticker!, (volumes.get(ticker!) ?? 0) + Number(size));
  const start = `${exchangeInstant(session)}000000`;
  return (
    barHeader +
    [...volumes].map(([ticker, volume], i) => `${ticker},${volume + (i === 0 ? 1 : 0)},1,1,1,1,${start},1,\n`).join('')
  );
}

const linesOf = (count: number, line: (i: number) => string) => Array.from({ length: count }, (_, i) => line(i));

/** Writes the files. The same at every call. */
export function writeVendorFiles(folder: string): VendorFiles {
  const prices = samplePrices();
  const path = (name: string) => join(folder, name);
  const write = (name: string, text: string) => writeFileSync(path(name), text);
  const entries = symbols.map(sampleSymbolOf);
  write(
    'splits.csv',
    ['symbol,ex_date,ratio,declared', ...linesOf(5, (i) => `NVDA,2024-0${i + 1}-08,${i + 2}:1,`)].join('\n'),
  );
  write('dividends.csv', ['symbol,ex_date,amount', ...linesOf(5, (i) => `SPY,2024-0${i + 1}-08,1.${i}`)].join('\n'));
  write(
    'rates.csv',
    ['date,days,rate', ...linesOf(9, (i) => `${fileSessions[1]},${30 * (i + 1)},0.04${i}`)].join('\n'),
  );
  write('volatility-days.csv', ['symbol,date,iv30', ...linesOf(5, (i) => `SPY,2026-11-0${i + 2},0.1${i}`)].join('\n'));
  write('roots.csv', 'root,underlying,style,settlement,multiplier\nQMINI,QQQQ,european,am,10\n');
  write(
    'symbols.csv',
    [
      'symbol,name,class,window_days,tenor_frame,min_tier,requires_attestation,sector,listed,instrument_type',
      'QQQQ,Q Inc.,equity,60,weekly,free,false,Technology,true,common_equity',
      '',
    ].join('\n'),
  );
  write('history.csv', dayHistoryFile(prices, ['2026-11-11', '2026-11-12']));
  for (const session of [barred, first]) {
    write(`days-${session}.csv`, dayFile(prices, session, filesOverMs));
    write(`minutes-${session}.csv`, minuteFile(prices, session, filesOverMs, entries));
    write(`option-minutes-${session}.csv`, optionBarFile(prices, session, filesOverMs));
    for (const entry of entries)
      write(`chain-${entry.symbol}-${session}.csv`, chainFile(prices, sessionChain(prices, entry, session), 600));
  }
  for (const session of [first, second]) {
    const tape = sampleTapes(prices, session, filesOverMs, shape);
    write(`option-trades-${session}.csv`, tape.optionTrades);
    write(`option-quotes-${session}.csv`, tape.optionQuotes);
    write(`stock-trades-${session}.csv`, tape.stockTrades);
    write(`option-days-${session}.csv`, dayAggregates(tape.optionTrades, session));
  }
  // The evening belongs to a session of IBM that is not stored.
  const printed = (id: number, minute: number) =>
    `IBM,,,11,${id},230.05,${id},${exchangeInstant(barred, minute)}000000,100,1,\n`;
  const header = 'ticker,conditions,correction,exchange,id,price,sequence_number,sip_timestamp,size,tape,trf_id\n';
  write('stock-trades-evening.csv', `${header}${printed(1, 959)}${printed(2, 1230)}`);
  write(`interest-${first}.csv`, 'ticker,open_interest\nO:SPY261218C00600000,120\nO:NVDA261218P00170000,7\n');
  const noon = `"${exchangeInstant(live, 720)}`;
  const lines: string[] = [];
  for (const line of liveTapeLines(prices, live, shape)) {
    if (line.includes(`"sip_timestamp":"`) && line.split('"sip_timestamp":')[1]! > noon) break;
    lines.push(line);
  }
  return { path, liveTape: lines.join(''), chainJson: chainJson() };
}
