import { readFileSync } from 'node:fs';
import { filledIn, standingAt } from '../../../rest/contract/example.ts';
import { firstQuery, firstRoute } from '../../first-requests.ts';
import { type Html, html } from '../../html.ts';
import { usualOrigin, withOrigin } from '../../origin.ts';
import { curlCommand } from '../client/curl.ts';
import type { Captured } from '../example-answers.ts';
import { jsonText } from '../json-text.ts';
import type { GuideParts } from './guide-types.ts';

/** A request in a guide, with a server's answer. */
export interface GuideExample {
  method?: string;
  /** Path and query; `guideRequest` replaces braces. */
  address: string;
  body?: string;
  /** `spent`: a key of the free tier without requests left in its minute. */
  credential?: 'session' | 'spent';
  /** Headers by name; `{etag}` and `{cursor}` are those of the example before. */
  headers?: Readonly<Record<string, string>>;
}

const bars = '/v2/stocks/SPY/bars?from={session}&to={next}&timeframe=1h&limit=3';
const past = '/v2/gex/SPY/history?date={previous}&from=15:30&top=1';

/** The requests of `/` and of the guides, in the order in which they are captured. */
export const guideExamples = {
  'first-request': { address: '/v2/quotes?symbols=SPY' },
  declare: {
    method: 'POST',
    address: '/v2/account/classification',
    body: '{"classification":"non_professional"}',
    credential: 'session',
  },
  'create-key': { method: 'POST', address: '/v2/account/keys', body: '{"name":"research"}', credential: 'session' },
  'key-rejected': { address: '/v2/account/keys' },
  usage: { address: '/v2/account/usage' },
  'too-many': { address: '/v2/symbols/SPY', credential: 'spent' },
  'graph-cost': {
    method: 'POST',
    address: '/graphql',
    body: '{"query":"{ symbol(symbol: \\"SPY\\") { quote { spot changePct } } }"}',
  },
  'first-page': { address: bars },
  'next-page': { address: `${bars}&cursor={cursor}` },
  clamped: { address: '/v2/offexchange/AAPL/activity?limit=100000' },
  tagged: { address: past },
  'not-modified': { address: past, headers: { 'If-None-Match': '{etag}' } },
  'empty-window': { address: '/v2/stocks/SPY/bars?from={session}&to={session}&timeframe=1d' },
  'whole-day': { address: '/v2/stocks/SPY/bars?from={session}&to={next}&timeframe=1d' },
  'quiet-day': { address: '/v2/gex/SPY/history?date=2026-11-15' },
  // Those of `/` and the README. They are last, so that they do not count in the usage that a guide shows.
  'first-query': { method: 'POST', address: '/graphql', body: JSON.stringify({ query: firstQuery }) },
  'first-route': { address: firstRoute },
} as const satisfies Record<string, GuideExample>;

/** The names of the requests. */
export type GuideExampleName = keyof typeof guideExamples;

/** A server's answers to the requests, by name. */
export const guideAnswers: Readonly<Partial<Record<GuideExampleName, Captured>>> = JSON.parse(
  readFileSync(new URL('../../../../generated/pages/answers.json', import.meta.url), 'utf8'),
);

/** An example as sent at `nowMs`; values of the former answer (`{cursor}`, `{etag}`) are not replaced. */
export function guideRequest(example: GuideExample, nowMs: number): Required<Omit<GuideExample, 'credential'>> {
  const { method = 'GET', body = '', headers = {}, address } = example;
  return { method, body, headers, address: filledIn(address, standingAt(nowMs)) };
}

/** A shell command of a guide, which a test runs: `KEY` contains the credential. */
export function shell(code: Html | string): Html {
  return html`<pre tabindex="0" data-runs="shell"><code>${code}</code></pre>`;
}

/** The command of an example. */
export function curlOf(name: GuideExampleName, { nowMs }: GuideParts): Html {
  const example: GuideExample = guideExamples[name];
  const { method, address } = guideRequest(example, nowMs);
  const shown = { method, credential: null, body: example.body ?? null, contentType: 'application/json' };
  return shell(withOrigin(curlCommand({ ...shown, url: usualOrigin + address })));
}

/** A server's answer: request, status, headers and body. */
export function answerOf(name: GuideExampleName, shownHeaders: readonly string[] = []): Html {
  const captured = guideAnswers[name];
  // A new example has none until the script has run.
  if (!captured) return html``;
  const { method, address, status, headers, answer, omitted } = captured;
  const sent = Object.entries((guideExamples[name] as GuideExample).headers ?? {});
  const lines = shownHeaders.flatMap((header) =>
    headers[header] === undefined ? [] : [`${header}: ${headers[header]}`],
  );
  const body = answer === null ? '' : jsonText(answer, omitted);
  return html`<p class="muted asked"><span class="status">${status}</span> <code>${method} ${address}</code>
${sent.map(([header]) => html`with <code>${header}</code>`)}</p>
<pre class="answer" tabindex="0"><code>${[...lines, body].join('\n')}</code></pre>`;
}
