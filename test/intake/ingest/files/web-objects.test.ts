import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { createServer, type RequestListener, type Server } from 'node:http';
import { createServer as createSecureServer } from 'node:https';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { getCACertificates, setDefaultCACertificates } from 'node:tls';
import { gzipSync } from 'node:zlib';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, onTestFinished, test } from 'vitest';
import { ingestFiles } from '../../../../src/intake/ingest/ingest.ts';
import { type TestStore, testStore } from '../../../support/store.ts';
import { temporaryFolder } from '../../../support/temporary-folder.ts';

const now = () => 1_800_000_000_000;
const day = gzipSync(
  'ticker,volume,open,close,high,low,window_start,transactions\nSPY,100,10,10,11,9,1699632000000000000,5\n',
);
const folder = temporaryFolder();
let tls: { key: Buffer; cert: Buffer };
let before: string[];

beforeAll(() => {
  const [key, cert] = [join(folder(), 'key.pem'), join(folder(), 'cert.pem')];
  const subject = ['-subj', '/CN=localhost', '-addext', 'subjectAltName=DNS:localhost,IP:127.0.0.1'];
  const curve = ['-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:prime256v1'];
  execFileSync(
    'openssl',
    ['req', '-x509', '-nodes', '-days', '2', ...curve, '-keyout', key, '-out', cert, ...subject],
    {
      stdio: 'ignore',
    },
  );
  tls = { key: readFileSync(key), cert: readFileSync(cert) };
  before = getCACertificates('default');
  setDefaultCACertificates([...before, tls.cert.toString()]);
});
afterAll(() => setDefaultCACertificates(before));

async function served(listener: RequestListener, secure = true): Promise<string> {
  const server: Server = secure ? createSecureServer(tls, listener) : createServer(listener);
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  onTestFinished(() => {
    server.closeAllConnections();
    server.close();
  });
  return `${secure ? 'https' : 'http'}://localhost:${(server.address() as AddressInfo).port}`;
}

let store: TestStore;
beforeEach(async () => {
  store = await testStore();
});
afterEach(() => store.close());

async function ingest(url: string) {
  const { files } = await ingestFiles(store, 'stock-day-bars', [url], { now });
  return files[0]!;
}

describe('files of web servers', () => {
  test('https is read, and neither a query nor a password is shown', async () => {
    const seen: (string | undefined)[] = [];
    const base = await served((request, response) => {
      seen.push(request.url, request.headers.authorization);
      response.writeHead(200, { 'content-length': day.length }).end(day);
    });
    const url = `${base.replace('//', '//reader:secret@')}/day.csv.gz?X-Amz-Signature=hidden`;
    const report = await ingest(url);
    expect(report).toMatchObject({ status: 'stored', rows: 1, file: `${base}/day.csv.gz` });
    expect(seen).toEqual(['/day.csv.gz?X-Amz-Signature=hidden', `Basic ${btoa('reader:secret')}`]);
    expect(JSON.stringify(report)).not.toMatch(/secret|hidden/);
  });

  test('a redirect to another host is followed without the credentials', async () => {
    const seen: (string | undefined)[] = [];
    const other = await served((request, response) => {
      seen.push(request.headers.authorization);
      response.writeHead(200, { 'content-length': day.length }).end(day);
    });
    const base = await served((_request, response) => response.writeHead(302, { location: `${other}/there` }).end());
    expect(await ingest(`${base.replace('//', '//reader:secret@')}/day.csv.gz`)).toMatchObject({ status: 'stored' });
    expect(seen).toEqual([undefined]);
  });

  test('a redirect to an address that is not encrypted is refused, and so is a circle of them', async () => {
    const plain = await served((_request, response) => response.end(day), false);
    const down = await served((_request, response) => response.writeHead(301, { location: plain }).end());
    expect((await ingest(`${down}/day.csv`)).reason).toBe(`${down}/day.csv: redirected from https to ${plain}/`);
    const circle = await served((_request, response) => response.writeHead(307, { location: '/again' }).end());
    expect((await ingest(`${circle}/day.csv`)).reason).toContain('more than 5 redirects');
  });

  test('http is read from this machine, and from another only when allowed', async () => {
    const plain = await served((_request, response) => {
      response.writeHead(200, { 'content-length': day.length }).end(day);
    }, false);
    expect(await ingest(`${plain}/day.csv.gz`)).toMatchObject({ status: 'stored' });
    expect((await ingest('http://vendor.invalid/day.csv.gz')).reason).toContain('is not encrypted');
  });

  test('an answer whose end cannot be known, or that is coded as it cannot be read, is refused', async () => {
    const endless = await served((_request, response) => {
      response.socket!.end(Buffer.concat([Buffer.from('HTTP/1.1 200 OK\r\nConnection: close\r\n\r\n'), day]));
    });
    const brotli = await served((_request, response) => {
      response.writeHead(200, { 'content-length': day.length, 'content-encoding': 'br' }).end(day);
    });
    expect((await ingest(`${brotli}/a.csv`)).reason).toContain('Content-Encoding "br"');
    expect((await ingest(`${endless}/a.csv`)).reason).toContain('does not state its length');
  });

  test('a server that answers 503 is asked again, one that goes on is given up', async () => {
    let asked = 0;
    const busy = await served((_request, response) => {
      asked++;
      if (asked === 1) response.writeHead(503).end();
      else response.writeHead(200, { 'content-length': day.length }).end(day);
    });
    expect(await ingest(`${busy}/day.csv.gz`)).toMatchObject({ status: 'stored' });
    const down = await served((_request, response) => response.writeHead(500).end());
    expect((await ingest(`${down}/day.csv.gz`)).reason).toBe(
      `${down}/day.csv.gz: gave up after 5 attempts (the server answered 500)`,
    );
  });

  test('a certificate that is not trusted is an error, not asked again', async () => {
    setDefaultCACertificates(before);
    try {
      const base = await served((_request, response) => response.end(day));
      expect((await ingest(`${base}/day.csv.gz`)).reason).toMatch(/day\.csv\.gz: .*certificate/);
    } finally {
      setDefaultCACertificates([...before, tls.cert.toString()]);
    }
  });
});
