import { tiers } from '../../../platform/config/tiers.ts';
import { html } from '../../html.ts';
import { answerOf, curlOf } from './examples.ts';
import { type Guide, type GuideParts, type GuideSection, table } from './guide-types.ts';

const count = (value: number) => value.toLocaleString('en-US');
const rateHeaders = ['x-ratelimit-limit', 'x-ratelimit-remaining', 'x-ratelimit-reset', 'x-ratelimit-consumed'];

function byTier({ limits: { rates, pointsPerRequest } }: GuideParts): GuideSection {
  const rows = tiers.map((tier) => [tier, count(rates[tier]), count(rates[tier] * pointsPerRequest)]);
  const anonymous = ['no credential, per address', count(rates.anonymous), count(rates.anonymous * pointsPerRequest)];
  return {
    id: 'tiers',
    title: 'Requests per minute',
    alsoCalled: 'rate limits, quota',
    body: html`${table(['Tier', 'Requests per minute', 'Points per minute'], [...rows, anonymous])}
<p>These are the settings of this server. The minute of a key begins with its first request; all site sessions of an
account share one budget. REST, GraphQL, streams and AI clients use the same budget. Without a credential only introspection of the graph is
charged.</p>`,
  };
}

function costs({ limits: { pointsPerRequest, view } }: GuideParts): GuideSection {
  return {
    id: 'points',
    title: 'Cost of a request',
    body: html`<p>A REST request costs 1 request, whether it succeeds or fails. A GraphQL document costs points for the work it does;
${pointsPerRequest} points are 1 request, and a document costs at least 1. Before it runs, it is charged its predicted cost; afterwards the
difference to its actual cost is refunded. <code>extensions.cost</code> reports both. <code>POST /graphql?cost</code> says what a document would cost, without running or charging it:</p>
${answerOf('graph-cost')}
<p>A document that costs more than the budget of a whole minute returns <a href="/docs#error-400">400</a> with its cost. Do not retry it. A stream is charged when it is opened; its later events are free.</p>
<p>For subscriptions sent in one request with their stream, the points are added up.</p>
<p>The <a href="/dashboard">dashboard</a> uses at most ${view.first} requests to show its first symbol and ${view.next} for each further one
(${view.nextFree} with a free key, which is enough for ten symbols a minute). This includes the panels visible in a window of usual height and the live
data. A panel further down uses 1 or 2 more requests when it is scrolled into view; candles of one minute use 1 more if they fill a second page.</p>`,
  };
}

const headers: GuideSection = {
  id: 'headers',
  title: 'Headers',
  body: html`${table(
    ['Header', 'Meaning'],
    [
      ['x-ratelimit-limit', 'Requests per minute of your tier. The same as rate_limit.per_min of /v2/account/usage.'],
      ['x-ratelimit-remaining', 'Requests left in this minute.'],
      ['x-ratelimit-reset', 'Seconds until the minute is over.'],
      ['x-ratelimit-consumed', 'Requests that this answer took from the minute: 0 if it was rejected with 429.'],
      ['Retry-After', 'Seconds after which to retry; on 429, and on 503 if known.'],
    ],
  )}
${answerOf('usage', rateHeaders)}`,
};

function tooMany(parts: GuideParts): GuideSection {
  const { inFlight, streams } = parts.limits;
  return {
    id: 'too-many',
    title: '429 and Retry-After',
    alsoCalled: 'too many requests, throttling, backoff',
    body: html`<p>Over the limit the answer is <a href="/docs#error-429">429</a> <code>rate_limited</code>. Wait the number of seconds in
<code>Retry-After</code>, then send the request again; <code>details.retry_after_seconds</code> is the same number. A rejected
request is not charged.</p>
${answerOf('too-many', [...rateHeaders, 'retry-after'])}
<p>429 is also returned for more than ${inFlight} requests for stock bars at a time with one API key (<code>Retry-After: 1</code>), and for more than
${count(streams)} streams at a time with one credential. <a href="/docs/paging#loop">Reading every page</a> has a loop that waits.</p>
${curlOf('usage', parts)}`,
  };
}

/** Guide to rates, budgets and the cost of a request. */
export const ratesGuide: Guide = {
  path: '/docs/rates',
  title: 'Rates and budgets',
  alsoCalled: 'rate limits, rate limiting, ratelimit, quota',
  about:
    'Requests per minute by tier, what a request costs, the headers that say what is left, and what to do after 429.',
  sections: (parts) => [byTier(parts), costs(parts), headers, tooMany(parts)],
};
