// A vendor's file of a day has the chains of many underlyings: each becomes a capture, all of them or none.
import { writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { basename, join } from 'node:path';
import { gzipSync, zstdCompressSync } from 'node:zlib';
import { parquetWriteBuffer } from 'hyparquet-writer';
import { afterEach, beforeEach, describe, expect, onTestFinished, test } from 'vitest';
import { exchangeInstant } from '../../../../src/core/domain/market-time.ts';
import { type IngestOptions, ingestFiles } from '../../../../src/intake/ingest/ingest.ts';
import { readChains } from '../../../../src/intake/tape/chains/chain-file.ts';
import { saveSeals } from '../../../../src/store/market/session-seals.ts';
import { inTransaction } from '../../../../src/store/rows/transaction.ts';
import { modelColumns } from '../../../support/model-columns.ts';
import { type TestStore, testStore } from '../../../support/store.ts';
import { worth } from '../../../support/tapes/quoted-tape.ts';
import { temporaryFolder } from '../../../support/temporary-folder.ts';

const folder = temporaryFolder();
const session = '2026-11-16';
const at = (minute: number) => exchangeInstant(session, minute);
const now = () => exchangeInstant('2026-11-17', 600);
const expiries = ['2026-11-20', '2026-12-18'];

/** Prices of the underlyings, and the minutes of their quotes. */
const market: Record<string, { spot: number; minute: number }> = {
  SPY: { spot: 600, minute: 945 },
  KO: { spot: 60, minute: 944 },
  QQQ: { spot: 500, minute: 946 },
};
const tickers = Object.keys(market);

interface Quote {
  ticker: string;
  expiry: string;
  strike: number;
  minute: number;
  spot: number;
  bid: (right: 'call' | 'put') => number;
  ask: (right: 'call' | 'put') => number;
}

function quotesOf(ticker: string, strikes: readonly number[] = [0.95, 1, 1.05]): Quote[] {
  const { spot, minute } = market[ticker]!;
  return expiries.flatMap((expiry) =>
    strikes.map((moneyness): Quote => {
      const strike = Math.round(spot * moneyness);
      const fair = (right: 'call' | 'put') =>
        Math.round(100 * worth({ root: ticker, expiry, right, strike: strike * 1000 }, spot, at(minute))) / 100;
      const bid = (right: 'call' | 'put') => Math.max(0.01, fair(right) - 0.02);
      return { ticker, expiry, strike, minute, spot, bid, ask: (right) => bid(right) + 0.04 };
    }),
  );
}

const stamp = (minute: number) => new Date(at(minute)).toISOString();

const orats = [
  ...['ticker', 'tradeDate', 'expirDate', 'strike', 'stockPrice', 'callBidPrice', 'callAskPrice', 'putBidPrice'],
  ...['putAskPrice', 'callOpenInterest', 'putOpenInterest', 'quoteDate'],
];

/** The cells of ORATS' strikes. */
function cellsOf({ ticker, expiry, strike, minute, spot, bid, ask }: Quote): (string | number)[] {
  const prices = [bid('call'), ask('call'), bid('put'), ask('put')].map((price) => price.toFixed(2));
  return [ticker, session, expiry, strike, spot, ...prices, 100, 100, stamp(minute)];
}

const csv = (quotes: readonly Quote[]) => [orats, ...quotes.map(cellsOf)].map((line) => line.join()).join('\n');

const osi = ({ ticker, expiry, strike }: Quote, right: 'C' | 'P') =>
  `${ticker}${expiry.slice(2).replaceAll('-', '')}${right}${String(strike * 1000).padStart(8, '0')}`;
const rights = [
  ['C', 'call'],
  ['P', 'put'],
] as const;
const sides = (quotes: readonly Quote[]) =>
  quotes.flatMap((quote) =>
    rights.map(([letter, right]) => ({ ...quote, contract: osi(quote, letter), bid: quote.bid(right), right })),
  );

/** A file of every vendor's format of chains, of these quotes. */
const files: Record<string, (quotes: readonly Quote[]) => string> = {
  'orats-strikes as CSV': csv,
  'orats-strikes as JSON': (quotes) =>
    JSON.stringify({
      data: quotes.map((quote) => Object.fromEntries(cellsOf(quote).map((cell, i) => [orats[i], cell]))),
    }),
  'theta-chain': (quotes) =>
    [
      'symbol,expiration,strike,right,timestamp,bid,ask,implied_vol,underlying_timestamp,underlying_price',
      ...sides(quotes).map(({ ticker, expiry, strike, right, bid, spot, minute }) =>
        [ticker, expiry, strike.toFixed(3), right, stamp(minute), bid, bid + 0.04, 0.2, stamp(minute), spot].join(),
      ),
    ].join('\n'),
  'yfinance-chain': (quotes) =>
    [
      'contractSymbol,lastTradeDate,strike,lastPrice,bid,ask,openInterest,impliedVolatility',
      ...sides(quotes).map(({ contract, minute, strike, bid }) =>
        [contract, stamp(minute), strike, bid, bid, bid + 0.04, 100, 0.2].join(),
      ),
    ].join('\n'),
  'tradier-chain': (quotes) =>
    JSON.stringify({
      options: {
        option: sides(quotes).map(({ contract, ticker, minute, bid }) => ({
          symbol: contract,
          root_symbol: ticker,
          bid,
          ask: bid + 0.04,
          bid_date: at(minute),
          ask_date: at(minute),
          open_interest: 100,
        })),
      },
    }),
  'massive-chain': (quotes) =>
    JSON.stringify({
      status: 'OK',
      results: sides(quotes).map(({ contract, minute, bid, spot }) => ({
        details: { ticker: `O:${contract}` },
        open_interest: 100,
        last_quote: { bid, ask: bid + 0.04, last_updated: `#${at(minute)}000000#` },
        underlying_asset: { price: spot, last_updated: `#${at(minute)}000000#` },
      })),
    }).replace(/"#(\d+)#"/g, '$1'),
};

const everyone = tickers.flatMap((ticker) => quotesOf(ticker));

function write(content: string | Buffer, name = 'day.csv'): string {
  const path = join(folder(), name);
  writeFileSync(path, content);
  return path;
}

describe('a vendor’s file with several underlyings', () => {
  test.each(Object.keys(files))('of the format %s has a chain of each, at its own time and price', async (name) => {
    // Lines of one underlying need not be together.
    const mixed = everyone.toSorted((a, b) => a.strike / a.spot - b.strike / b.spot);
    const { captures } = await readChains(write(files[name]!(mixed), 'day'), (bad) => expect(bad).toBeNull());
    expect(captures.map(({ underlying }) => underlying)).toEqual(['KO', 'QQQ', 'SPY']);
    for (const { underlying, capturedAt, spot, rows, partial } of captures) {
      expect(partial).toBe(false);
      expect(rows).toHaveLength(12);
      expect(new Set(rows.map(({ root }) => root))).toEqual(new Set([underlying]));
      expect(capturedAt).toBe(at(market[underlying]!.minute));
      expect([null, market[underlying]!.spot]).toContain(spot);
    }
    if (!/yfinance|tradier/.test(name)) expect(captures.every(({ spot }) => spot !== null)).toBe(true);
  });

  test('has all roots of an index in one chain', async () => {
    const row = cellsOf(quotesOf('SPY')[0]!);
    const index = ['am', 'pm'].map((tod) => [...row.with(0, 'SPX'), tod].join());
    const text = [[...orats, 'expiryTod'].join(), [...row, ''].join(), ...index].join('\n');
    const { captures } = await readChains(write(text), (bad) => expect(bad).toBeNull());
    const roots = captures.map(({ underlying, rows }) => [underlying, [...new Set(rows.map(({ root }) => root))]]);
    expect(roots).toEqual([
      ['SPX', ['SPX', 'SPXW']],
      ['SPY', ['SPY']],
    ]);
  });

  test('has a partial chain where a contract is invalid, and whole ones beside it', async () => {
    const text = csv(everyone).replace(/^(KO,.*?),(\d+\.\d+),(\d+\.\d+),100,100,/m, '$1,x,$3,100,100,');
    const bad: string[] = [];
    const { captures } = await readChains(write(text), ({ line, reason }) => bad.push(`${line}: ${reason}`));
    expect(bad).toEqual([expect.stringMatching(/^8: O:KO\S+: bid: expected a number, got "x"$/)]);
    expect(captures.map(({ partial }) => partial)).toEqual([true, false, false]);
  });

  test('is rejected if a chain in it has no time, or a contract twice, and the reason names it', async () => {
    const timeless = csv(everyone).replaceAll(stamp(944), 'soon');
    await expect(readChains(write(timeless), () => {})).rejects.toThrow(
      /quoteDate: expected a time in the chain of KO/,
    );
    const twice = csv([...everyone, quotesOf('QQQ')[0]!]);
    await expect(readChains(write(twice), () => {})).rejects.toThrow(/the contract QQQ\S+ twice/);
  });

  test('of the exchange is rejected, because its page has one price', async () => {
    const options = ['KO261218C00060000', 'SPY261218C00600000'].map((option) => ({ option, bid: 1, ask: 2 }));
    const text = JSON.stringify({ timestamp: '2026-11-16 20:00:00', data: { options, current_price: 60 } });
    await expect(readChains(write(text), () => {})).rejects.toThrow(/several underlyings: KO, SPY/);
  });
});

describe('ingest chain of such a file', () => {
  let store: TestStore;
  beforeEach(async () => {
    store = await testStore();
  });
  afterEach(() => store.close());

  const ingest = async (path: string, options: Partial<IngestOptions> = {}) =>
    (await ingestFiles(store, 'chain', [path], { now, ...options })).files[0]!;

  async function captures(from: TestStore = store): Promise<unknown[]> {
    const read = async (table: string) => {
      const columns = modelColumns(table);
      const { rows } = await from.pool.query(`SELECT ${columns} FROM ${table} ORDER BY underlying, captured_at`);
      return rows.map(({ file_hash: _, file_name: __, ...row }) => row);
    };
    return [await read('chain_captures'), await read('gex_captures')];
  }
  const stored = async () =>
    (await store.pool.query('SELECT underlying FROM chain_captures ORDER BY underlying')).rows.map(
      ({ underlying }) => underlying,
    );

  test('stores what the files of each underlying would store', async () => {
    expect(await ingest(write(csv(everyone)))).toMatchObject({ status: 'stored', rows: 36, badLineCount: 0 });
    const other = await testStore();
    onTestFinished(() => other.close());
    const alone = tickers.map((ticker) => write(csv(quotesOf(ticker)), `${ticker}.csv`));
    await ingestFiles(other, 'chain', alone, { now });
    expect(await captures()).toEqual(await captures(other));
    expect(await stored()).toEqual(['KO', 'QQQ', 'SPY']);
  });

  test.each([
    ['plain', (text: string) => Buffer.from(text)],
    ['gzip', (text: string) => gzipSync(text)],
    ['Zstandard', (text: string) => zstdCompressSync(text)],
  ])('reads it %s, and reports it as unchanged in any packing', async (_, pack) => {
    expect((await ingest(write(pack(csv(everyone)), 'packed'))).status).toBe('stored');
    expect((await ingest(write(csv(everyone)))).status).toBe('unchanged');
    expect(await stored()).toEqual(['KO', 'QQQ', 'SPY']);
  });

  test('reads it as Parquet', async () => {
    const cells = everyone.map(cellsOf);
    const columnData = orats.map((name, i) => ({
      name,
      type: 'STRING' as const,
      data: cells.map((row) => `${row[i]}`),
    }));
    const path = write(Buffer.from(parquetWriteBuffer({ columnData })), 'day.parquet');
    expect(await ingest(path)).toMatchObject({ status: 'stored', rows: 36 });
    expect(await stored()).toEqual(['KO', 'QQQ', 'SPY']);
  });

  test('reads it from a web server, and names it in every capture', async () => {
    const server = createServer((_, response) => response.end(csv(everyone)));
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    onTestFinished(() => void server.close());
    const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/strikes.csv`;
    expect((await ingest(url)).status).toBe('stored');
    const { rows } = await store.pool.query('SELECT DISTINCT files FROM generations');
    expect(JSON.stringify(rows)).toContain('strikes.csv');
    expect(await stored()).toEqual(['KO', 'QQQ', 'SPY']);
  });

  test('stores nothing if it has a bad line', async () => {
    const text = csv(everyone).replace(/^QQQ,/m, '?,');
    expect(await ingest(write(text))).toMatchObject({ status: 'refused', changed: 0, badLineCount: 2 });
    expect(await stored()).toEqual([]);
    expect(await ingest(write(text), { maxErrors: 2 })).toMatchObject({ status: 'stored' });
    expect(await stored()).toEqual(['KO', 'QQQ', 'SPY']);
  });

  test('stores nothing if the session of one underlying is sealed', async () => {
    await inTransaction(store, (tx) => saveSeals(tx, session, ['QQQ'], now()));
    const report = await ingest(write(csv(everyone)));
    expect(report).toMatchObject({ status: 'refused', reason: expect.stringContaining('QQQ') });
    expect(await stored()).toEqual([]);
  });

  test('stores nothing if one chain lacks contracts of the stored one, and all of it with replace', async () => {
    const wide = csv([...quotesOf('QQQ', [0.9, 0.95]), ...quotesOf('KO')]);
    expect((await ingest(write(wide, 'wide.csv'))).status).toBe('stored');
    const before = await captures();
    const report = await ingest(write(csv(everyone)));
    expect(report).toMatchObject({ status: 'refused', reason: expect.stringMatching(/QQQ: not stored: .*it lacks/) });
    expect(await captures()).toEqual(before);
    expect(await ingest(write(csv(everyone)), { replace: true })).toMatchObject({ status: 'stored' });
    expect(await stored()).toEqual(['KO', 'QQQ', 'SPY']);
  });

  test('does not end another file of them that is stored at the same time, nor one of open interest', async () => {
    const later = everyone.map((quote) => ({ ...quote, minute: quote.minute - 60 }));
    const lines = sides(everyone).map(({ contract }) => `O:${contract},${100}`);
    const interest = write(['ticker,open_interest', ...lines].join('\n'), `interest_${session}.csv`);
    const chains = [write(csv(everyone), 'a.csv'), write(csv(later.toReversed()), 'b.csv')];
    const reports = await Promise.all([
      ...chains.map((path) => ingestFiles(store, 'chain', [path], { now })),
      ingestFiles(store, 'open-interest', [interest], { now }),
    ]);
    expect(reports.map(({ files: [file] }) => file!.status)).toEqual(['stored', 'stored', 'stored']);
    expect(await stored()).toEqual(['KO', 'KO', 'QQQ', 'QQQ', 'SPY', 'SPY']);
  });

  test('is read again once another file has replaced one of its chains', async () => {
    const path = write(csv(everyone));
    await ingest(path);
    const dearer = quotesOf('KO').map((quote) => ({ ...quote, spot: 61 }));
    expect((await ingest(write(csv(dearer), 'KO.csv'))).status).toBe('stored');
    expect((await ingest(path)).status).toBe('stored');
    expect((await ingest(path)).status).toBe('unchanged');
  });

  test('stores the chains of the given underlyings alone, later all', async () => {
    const path = write(csv(everyone));
    const report = await ingest(path, { symbols: ['SPY', 'KO'] });
    expect(report).toMatchObject({ status: 'stored', rows: 24 });
    expect(report.notes[0]).toBe('2 of 3 underlyings: KO, SPY');
    expect(await stored()).toEqual(['KO', 'SPY']);
    const none = await ingest(path, { symbols: ['IBM'] });
    expect(none.reason).toBe(`${basename(path)}: expected the chain of IBM; the file has that of KO, QQQ, SPY`);
    expect((await ingest(path)).status).toBe('stored');
    expect(await stored()).toEqual(['KO', 'QQQ', 'SPY']);
  });

  test('notes of each underlying begin with it', async () => {
    const { notes } = await ingest(write(files['yfinance-chain']!(everyone)));
    const unpriced = ['KO', 'QQQ', 'SPY'].map((of) => `${of}: no GEX capture: the price of the underlying is unknown`);
    expect(notes).toEqual(['3 of 3 underlyings: KO, QQQ, SPY', ...unpriced]);
  });
});
