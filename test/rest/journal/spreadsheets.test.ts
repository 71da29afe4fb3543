import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { type TestApp, testApp } from '../../support/app.ts';

let app: TestApp;
beforeAll(async () => {
  app = await testApp({ nowMs: Date.parse('2026-11-20T17:00Z') });
});
afterAll(() => app.close());

const notes = ['=1+1', '+1', '-1', '@SUM(A1)', '\t=1', '\r=1', "'=1", 'a=1', ' =1', "it's", "'"];
const shownNotes = ["'=1+1", "'+1", "'-1", "'@SUM(A1)", "'\t=1", "'\r=1", "''=1", 'a=1', ' =1', "it's", "'"];

const cell = (text: string) => (/[\r",]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text);

/** Somebody whose journal has a trade a note. */
async function owner(): Promise<string> {
  const credential = await app.session();
  const trades = notes.map((note, i) => {
    const trade = {
      id: `=t${i}`,
      account_id: '-a',
      symbol: 'SPY',
      side: '@buy',
      qty: 2,
      price: 600.5,
      ts: 1_700_000_000_000 - i,
      note,
    };
    return JSON.stringify(trade);
  });
  expect((await imported('?import_id=a', trades.join('\n'), credential)).created).toBe(notes.length);
  return credential;
}

async function imported(query: string, body: string, credential: string) {
  const path = `/v2/journal/import${query}`;
  return (await app.send('POST', path, { contentType: 'text/plain', body, credential })).body.data;
}

const trades = (credential: string, accept = 'application/json') =>
  app.get('/v2/journal/trades?limit=50', { credential, headers: { accept } });

describe('a journal opened in a spreadsheet', () => {
  test('runs none of its texts, and its numbers stay numbers', async () => {
    const credential = await owner();
    const { bytes } = await trades(credential, 'text/csv');
    const lines = shownNotes.map((note, i) => `'=t${i},'-a,SPY,'@buy,2,600.5,${1_700_000_000_000 - i},${cell(note)}`);
    expect(bytes.toString().split('\r\n').slice(1, -1).sort()).toEqual(lines.sort());
    const { data } = (await trades(credential)).body;
    expect(data.map((trade: { note: string }) => trade.note).sort()).toEqual([...notes].sort());
  });

  test('can be imported again as it was exported', async () => {
    const [from, to] = [await owner(), await app.session()];
    const { bytes } = await trades(from, 'text/csv');
    const result = await imported('?import_id=b&format=csv', bytes.toString(), to);
    expect(result).toEqual({ created: notes.length, skipped: 0, errors: [] });
    expect((await trades(to)).body.data).toEqual((await trades(from)).body.data);
  });
});
