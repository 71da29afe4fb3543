import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { csvRecords } from '../../../../src/core/domain/csv-records.ts';
import { importLimits, readJournalBody } from '../../../../src/core/domain/journal.ts';
import { ContentTooLarge, InvalidValue } from '../../../../src/platform/runtime/invalid-value.ts';

const now = 1_800_000_000_000;
const bytes = (text: string) => new TextEncoder().encode(text);
const jsonl = (text: string) => readJournalBody(bytes(text), 'jsonl', now);
const header = 'id,account_id,symbol,side,qty,price,ts,note\n';
const csv = (text: string) => readJournalBody(bytes(header + text), 'csv', now);

const good = {
  id: 't1',
  account_id: 'main',
  symbol: 'spy',
  side: 'buy',
  qty: 2,
  price: 600.5,
  ts: 1_699_999_999_000,
  note: 'n',
};
const read = {
  id: 't1',
  journalAccountId: 'main',
  symbol: 'SPY',
  side: 'buy',
  qty: 2,
  price: 600.5,
  tsMs: 1_699_999_999_000,
  note: 'n',
};

describe('JSON lines', () => {
  it('are trades; id, ts and note may be left out', async () => {
    const { id, ts, note, ...required } = good;
    expect(await jsonl(`${JSON.stringify(good)}\n${JSON.stringify(required)}`)).toEqual({
      trades: [read, { ...read, id: null, tsMs: now, note: null }],
      errors: [],
      errorsOmitted: 0,
    });
  });

  it('may end in CRLF, begin with a BOM, and have blank lines between them, which are counted', async () => {
    const line = JSON.stringify(good);
    const { trades, errors } = await jsonl(`\ufeff${line}\r\n\r\n  \t\n${line}\r\n{\r\n`);
    expect(trades).toEqual([read, read]);
    expect(errors).toEqual([{ row: 5, code: 'bad_json' }]);
  });

  it.each(['{', '[]', '7', 'null', '"text"', '{"a":1}{"b":2}', "{'id': 1}", 'NaN'])(
    'of %s are bad_json',
    async (line) => {
      expect(await jsonl(line)).toEqual({ trades: [], errors: [{ row: 1, code: 'bad_json' }], errorsOmitted: 0 });
    },
  );

  it.each([
    ['missing_account_id', { account_id: undefined }],
    ['missing_account_id', { account_id: null }],
    ['missing_account_id', { account_id: '' }],
    ['missing_symbol', { symbol: undefined }],
    ['missing_side', { side: '' }],
    ['missing_qty', { qty: null }],
    ['missing_price', { price: undefined }],
    ['bad_id', { id: 7 }],
    ['bad_id', { id: 'x'.repeat(129) }],
    ['bad_account_id', { account_id: {} }],
    ['bad_account_id', { account_id: 'a\u0000' }],
    ['bad_symbol', { symbol: 'not a ticker' }],
    ['bad_symbol', { symbol: 5 }],
    ['bad_side', { side: true }],
    ['bad_side', { side: '\ud800' }],
    ['bad_qty', { qty: '2' }],
    ['bad_qty', { qty: 0 }],
    ['bad_qty', { qty: -1 }],
    ['bad_price', { price: -0.01 }],
    ['bad_price', { price: [1] }],
    ['bad_ts', { ts: 'yesterday' }],
    ['bad_ts', { ts: 1.5 }],
    ['bad_ts', { ts: 1e18 }],
    ['bad_ts', { ts: '2024-02-30' }],
    ['bad_note', { note: 1 }],
    ['bad_note', { note: 'a\u0000b' }],
    ['missing_symbol', { symbol: null, qty: 'x', note: 1 }],
  ])('are %s with %j', async (code, change) => {
    expect(await jsonl(`\n${JSON.stringify({ ...good, ...change })}`)).toEqual({
      trades: [],
      errors: [{ row: 2, code }],
      errorsOmitted: 0,
    });
  });

  it('of a number no double can hold are bad', async () => {
    expect((await jsonl(JSON.stringify(good).replace('"qty":2', '"qty":1e999'))).errors).toEqual([
      { row: 1, code: 'bad_qty' },
    ]);
  });

  it.each([
    [1_699_999_999_000, 1_699_999_999_000],
    ['1699999999000', 1_699_999_999_000],
    ['2024-07-01T09:30:00', Date.parse('2024-07-01T13:30:00Z')],
    ['2024-07-01T09:30:00Z', Date.parse('2024-07-01T09:30:00Z')],
    ['2024-07-01', Date.parse('2024-07-01T04:00:00Z')],
  ])('may tell the time as %s', async (ts, ms) => {
    expect((await jsonl(JSON.stringify({ ...good, ts }))).trades[0]?.tsMs).toBe(ms);
  });

  it('take any side, a zero price, and pass over other keys', async () => {
    const line = JSON.stringify({ ...good, side: 'sell short', price: 0, broker: 'x', __proto__x: 1 });
    expect((await jsonl(line)).trades).toEqual([{ ...read, side: 'sell short', price: 0 }]);
    // A key of the prototype is not a field.
    expect(
      (await jsonl('{"__proto__":{"account_id":"main","symbol":"SPY","side":"buy","qty":1,"price":1}}')).errors,
    ).toEqual([{ row: 1, code: 'missing_account_id' }]);
  });

  it('of any kind never throw, and every line is a trade, an error or blank', async () => {
    const value = fc.oneof(fc.json(), fc.constant(JSON.stringify(good)), fc.string(), fc.constant('  '));
    await fc.assert(
      fc.asyncProperty(fc.array(value.map((text) => text.replaceAll('\n', ' '))), async (lines) => {
        const { trades, errors } = await jsonl(lines.join('\n'));
        // A BOM that begins the body belongs to no line.
        const filled = lines.filter((line) => line.trim() !== '').length;
        return trades.length + errors.length === filled;
      }),
    );
  });
});

describe('CSV', () => {
  it('is trades under a header; empty fields were not sent', async () => {
    expect(await csv('t1,main,spy,buy,2,600.5,1699999999000,n\n,main,spy,buy,2,600.5,,\r\n')).toEqual({
      trades: [read, { ...read, id: null, tsMs: now, note: null }],
      errors: [],
      errorsOmitted: 0,
    });
  });

  it('may quote: commas, doubled quotes and line breaks; the row is the line on which a record starts', async () => {
    const { trades, errors } = await csv(
      '"t1","main","SPY","buy","2","600.5","1699999999000","a, ""b""\r\nc\n"\n\nt2,main,SPY,,1,1,,\nt3,main\n',
    );
    expect(trades).toEqual([{ ...read, note: 'a, "b"\r\nc\n' }]);
    expect(errors).toEqual([
      { row: 6, code: 'missing_side' },
      { row: 7, code: 'bad_columns' },
    ]);
  });

  it.each([
    ['too few columns', 't1,main,SPY,buy,1,1,'],
    ['too many columns', 't1,main,SPY,buy,1,1,,note,more'],
    ['a quote inside a field', 't1,main,SPY,buy,1,1,,a "note"'],
    ['text after a closing quote', '"t1"x,main,SPY,buy,1,1,,'],
    ['ten thousand columns', ','.repeat(10_000)],
  ])('with %s is bad_columns, and goes on in the next line', async (_, line) => {
    expect(await csv(`${line}\nt1,main,spy,buy,2,600.5,1699999999000,n\n`)).toEqual({
      trades: [read],
      errors: [{ row: 2, code: 'bad_columns' }],
      errorsOmitted: 0,
    });
  });

  it('with a quote that is never closed ends there', async () => {
    expect(await csv('t1,main,spy,buy,2,600.5,1699999999000,n\n"t2,main\nt3\n')).toEqual({
      trades: [read],
      errors: [{ row: 3, code: 'bad_columns' }],
      errorsOmitted: 0,
    });
  });

  it.each([
    ['bad_qty', 't1,main,SPY,buy,two,1,,'],
    ['bad_qty', 't1,main,SPY,buy,0x10,1,,'],
    ['bad_qty', 't1,main,SPY,buy,Infinity,1,,'],
    ['bad_price', 't1,main,SPY,buy,1,"1,000",,'],
    ['bad_ts', 't1,main,SPY,buy,1,1,noon,'],
    ['missing_qty', 't1,main,SPY,buy,,1,,'],
    ['bad_symbol', 't1,main,$$$,buy,1,1,,'],
  ])('is %s: %s', async (code, line) => {
    expect(await csv(line)).toEqual({ trades: [], errors: [{ row: 2, code }], errorsOmitted: 0 });
  });

  it('without its header is one error, and no column is guessed', async () => {
    const read = (text: string) => readJournalBody(bytes(text), 'csv', now);
    const expected = { trades: [], errors: [{ row: 1, code: 'bad_columns' }], errorsOmitted: 0 };
    expect(await read('t1,main,SPY,buy,1,1,,\nt2,main,SPY,buy,1,1,,\n')).toEqual(expected);
    expect(await read('account_id,id,symbol,side,qty,price,ts,note\na,b,SPY,buy,1,1,,\n')).toEqual(expected);
    expect(await read(`\ufeff"ID", Account_ID,symbol,side,qty,price,ts,note\r\n`)).toEqual({
      trades: [],
      errors: [],
      errorsOmitted: 0,
    });
    expect(await read('')).toEqual({ trades: [], errors: [], errorsOmitted: 0 });
  });

  it('written by the rules reads back as it was (property)', () => {
    const field = fc.string({ unit: fc.constantFrom('a', ',', '"', '\n', '\r', ' ', 'é') });
    const record = fc.array(field, { minLength: 2, maxLength: 8 });
    const quote = (text: string) => (/[",\r\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text);
    fc.assert(
      fc.property(fc.array(record), fc.constantFrom('\n', '\r\n'), (records, end) => {
        const lines = records.map((fields) => fields.map(quote).join(','));
        let row = 1;
        const rows = lines.map((line) => {
          const start = row;
          row += line.split('\n').length;
          return start;
        });
        const back = [...csvRecords(lines.map((line) => line + end).join(''))];
        expect(back).toEqual(records.map((fields, i) => ({ row: rows[i], fields })));
      }),
    );
  });

  it('of any kind never throws, and starts every record further down than the one before', () => {
    fc.assert(
      fc.property(fc.string({ unit: fc.constantFrom('a', ',', '"', '\n', '\r') }), (text) => {
        const rows = [...csvRecords(text)].map(({ row }) => row);
        return (
          rows.every((row, i) => i === 0 || row > rows[i - 1]!) && rows.every((row) => row <= text.split('\n').length)
        );
      }),
    );
  });
});

describe('an import', () => {
  const read = (body: Uint8Array) => readJournalBody(body, 'jsonl', now);

  it('that is not UTF-8 is invalid', async () => {
    const invalid = new InvalidValue('body', 'expected text in UTF-8');
    await expect(read(new Uint8Array([0x7b, 0xff, 0x7d]))).rejects.toEqual(invalid);
    await expect(read(new Uint8Array([0xff, 0xfe, 0x7b, 0x00]))).rejects.toEqual(invalid);
  });

  it('may have 100,000 lines and 10 MiB, and is too large over that', async () => {
    const { errors, errorsOmitted } = await jsonl('{}\n'.repeat(importLimits.lines));
    expect([errors.length, errorsOmitted]).toEqual([100, importLimits.lines - 100]);
    const [lines, size] = [new ContentTooLarge('100,000 lines'), new ContentTooLarge('10 MiB')];
    await expect(read(bytes('{}\n'.repeat(importLimits.lines + 1)))).rejects.toEqual(lines);
    await expect(read(bytes('\n'.repeat(importLimits.lines + 1)))).rejects.toEqual(lines);
    await expect(read(new Uint8Array(importLimits.bytes + 1).fill(32))).rejects.toEqual(size);
    expect(await jsonl(' '.repeat(importLimits.bytes))).toEqual({ trades: [], errors: [], errorsOmitted: 0 });
  });

  it('of the worst kind holds up nobody for long', async () => {
    const mib = 1024 * 1024;
    const bodies = {
      quotes: `${header}${'"\n'.repeat(99_000)}`,
      commas: header + ','.repeat(9 * mib),
      'unclosed quote': `${header}"${'a\n'.repeat(99_000)}`,
      'doubled quotes': `${header}"${'""'.repeat(4 * mib)}`,
      brackets: '['.repeat(9 * mib),
      trades: `${JSON.stringify(good)}\n`.repeat(90_000),
    };
    for (const [name, body] of Object.entries(bodies)) {
      // Time of this thread alone, ms: on a busy machine others have theirs between two iterations of the loop.
      const spent = () => {
        const { user, system } = process.threadCpuUsage();
        return (user + system) / 1000;
      };
      let longest = 0;
      let last = spent();
      const iteration = () => {
        longest = Math.max(longest, spent() - last);
        last = spent();
      };
      const watch = setInterval(iteration, 1);
      const format = body.startsWith(header) ? 'csv' : 'jsonl';
      await readJournalBody(bytes(body), format, now);
      iteration();
      clearInterval(watch);
      // An aim of 50 ms on a quiet machine; far more would be a quadratic mistake.
      expect([name, longest < 500]).toEqual([name, true]);
      if (process.env.TIMES) console.info(name, Math.round(longest), 'ms');
    }
  });
});
