import { readdirSync } from 'node:fs';
import { gzipSync, zstdCompressSync } from 'node:zlib';
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest';
import { ingestFiles } from '../../../../src/intake/ingest/ingest.ts';
import { credentials, etagOf, type ObjectStore, objectStore } from '../../../support/servers/object-store.ts';
import { type TestStore, testStore } from '../../../support/store.ts';
import { temporaryFolder } from '../../../support/temporary-folder.ts';

const now = () => 1_800_000_000_000;
const header = 'ticker,volume,open,close,high,low,window_start,transactions\n';
const start = Date.parse('2023-11-10T15:00:00Z');

function bars(count: number, ticker = 'SPY', first = 0): Buffer {
  const lines = Array.from(
    { length: count },
    (_, i) => `${ticker},${100 + i},10.5,10.25,11,10,${start + (first + i) * 60_000}000000,5\n`,
  );
  return Buffer.from(header + lines.join(''));
}

const folder = temporaryFolder();

describe('objects of a bucket', () => {
  let objects: ObjectStore;
  let store: TestStore;
  beforeEach(async () => {
    objects = await objectStore();
    store = await testStore();
  });
  afterEach(async () => {
    await objects.close();
    await store.close();
  });

  async function ingest(names: string[], onProgress?: Parameters<typeof ingestFiles>[4]) {
    return ingestFiles(store, 'stock-minute-bars', names, { now, remote: { env: objects.env } }, onProgress);
  }

  test('a signed read of one key, whatever characters it has, is stored and then unchanged', async () => {
    const key = "day/a b+c'(1)&ü.csv.gz";
    objects.objects.set(key, gzipSync(bars(5)));
    const { files } = await ingest([`s3://lake/${key}`, `s3://lake/${key}`]);
    expect(files).toMatchObject([{ status: 'stored', file: `s3://lake/${key}`, rows: 5 }]);
    objects.objects.set('copy.csv.zst', zstdCompressSync(bars(5)));
    const again = await ingest([`s3://lake/${key}`, 's3://lake/copy.csv.zst']);
    expect(again.files.map(({ status }) => status)).toEqual(['unchanged', 'unchanged']);
    expect(again.files[1]!.reason).toContain(`s3://lake/${key}`);
  });

  test('a prefix and a pattern read each object in the order of names, over pages of the list', async () => {
    objects.pageSize = 2;
    for (const name of ['d/3.csv', 'd/1.csv', 'd/2.csv.gz', 'd/_SUCCESS', 'd/deep/4.csv', 'e/5.csv'])
      objects.objects.set(
        name,
        name.endsWith('.gz') ? gzipSync(bars(3, 'QQQ', 9)) : bars(2, 'SPY', Number(name.at(-5))),
      );
    const names = (report: Awaited<ReturnType<typeof ingest>>) => report.files.map(({ file }) => file.slice(10));
    expect(names(await ingest(['s3://lake/d/']))).toEqual(['d/1.csv', 'd/2.csv.gz', 'd/3.csv', 'd/deep/4.csv']);
    expect(names(await ingest(['s3://lake/d/*.csv', 's3://lake/d/1.csv']))).toEqual(['d/1.csv', 'd/3.csv']);
    await expect(ingest(['s3://lake/none/*.csv'])).rejects.toThrow('s3://lake/none/*.csv: no such object');
  });

  test('a key whose URL is that of another object is refused, named or listed', async () => {
    objects.objects.set('secret/1.csv', bars(2));
    for (const name of [
      's3://lake/d/../secret/1.csv',
      's3://lake/./secret/1.csv',
      's3://../lake/1.csv',
      's3://lake/..',
    ])
      await expect(ingest([name])).rejects.toThrow(`${name}: expected a bucket and a key without "." and ".."`);
    objects.objects.set('d/../secret/1.csv', bars(2));
    await expect(ingest(['s3://lake/d/'])).rejects.toThrow('s3://lake/d/../secret/1.csv: expected a bucket');
    expect((await ingest(['s3://lake/secret/1..csv', 's3://lake/secret/1.csv'])).files[1]).toMatchObject({ rows: 2 });
  });

  test('after a broken connection a read goes on where it was', async () => {
    const body = bars(20_000);
    objects.objects.set('big.csv', body);
    let breaks = 2;
    objects.intercept = (request, response) => {
      if (breaks-- <= 0) return false;
      const from = Number(/\d+/.exec(request.headers.range ?? '0')![0]);
      const until = from + 400_000;
      response.writeHead(from === 0 ? 200 : 206, {
        etag: etagOf(body),
        'content-length': body.length - from,
        ...(from > 0 && { 'content-range': `bytes ${from}-${body.length - 1}/${body.length}` }),
      });
      response.write(body.subarray(from, until), () => setImmediate(() => response.destroy()));
      return true;
    };
    const seen: number[] = [];
    const { files } = await ingest(['s3://lake/big.csv'], ({ bytesRead, bytesTotal }) =>
      seen.push(bytesTotal && bytesRead / bytesTotal),
    );
    expect(files).toMatchObject([{ status: 'stored', rows: 20_000 }]);
    expect(objects.requests).toHaveLength(3);
    expect(objects.requests[1]).toMatch(/bytes=[1-9]\d*-/);
    expect(seen.at(-1)).toBe(1);
    expect(seen.length).toBeGreaterThan(5);
  });

  test('an object that changed between two parts of a read is refused', async () => {
    const body = bars(20_000);
    objects.objects.set('big.csv', body);
    objects.intercept = (_request, response) => {
      response.writeHead(200, { etag: etagOf(body), 'content-length': body.length });
      response.write(body.subarray(0, 300_000), () => setImmediate(() => response.destroy()));
      objects.objects.set('big.csv', bars(20_001));
      return true;
    };
    const { files } = await ingest(['s3://lake/big.csv']);
    expect(files).toMatchObject([
      { status: 'refused', reason: 's3://lake/big.csv: it changed while it was read; ingest it again' },
    ]);
  });

  test('bytes that do not have the checksum of the store are refused', async () => {
    const body = bars(10);
    objects.objects.set('a.csv', body);
    objects.intercept = (_request, response) => {
      response.writeHead(200, { 'content-length': body.length, 'x-amz-checksum-crc32': 'AAAAAA==' }).end(body);
      return true;
    };
    const { files } = await ingest(['s3://lake/a.csv']);
    expect(files[0]).toMatchObject({ status: 'refused', reason: expect.stringContaining('the crc32 checksum') });
  });

  test('errors name the object and what was wrong, and hold no secret', async () => {
    objects.objects.set('bad.csv', Buffer.from(`${header}SPY,1,0,1,1,1,1,1\n`));
    objects.objects.set('cut.csv.gz', gzipSync(bars(500)).subarray(0, 200));
    const { files } = await ingest(['s3://lake/bad.csv', 's3://lake/cut.csv.gz', 's3://lake/none.csv']);
    expect(files[0]!.badLines).toMatchObject([
      { file: 's3://lake/bad.csv', line: 2, reason: expect.stringContaining('open: expected') },
    ]);
    expect(files[1]!.reason).toContain('cut.csv.gz: the gzip data is truncated');
    expect(files[2]!.reason).toBe('s3://lake/none.csv: no such object (404): NoSuchKey');
    objects.env.AWS_SECRET_ACCESS_KEY = 'another';
    const denied = await ingest(['s3://lake/bad.csv']);
    expect(denied.files[0]!.reason).toBe('s3://lake/bad.csv: access denied (403): SignatureDoesNotMatch');
    expect(JSON.stringify([files, denied])).not.toContain(credentials.secretAccessKey);
    delete objects.env.AWS_SECRET_ACCESS_KEY;
    await expect(ingest(['s3://lake/bad.csv'])).rejects.toThrow('set both');
  });

  test('nothing of a fetched object is left behind', async () => {
    vi.stubEnv('TMPDIR', folder());
    objects.objects.set('a.csv', bars(10));
    await ingest(['s3://lake/a.csv', 's3://lake/none.csv']).finally(() => vi.unstubAllEnvs());
    expect(readdirSync(folder())).toEqual([]);
  });
});
