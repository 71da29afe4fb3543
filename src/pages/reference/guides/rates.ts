import { tiers } from '../../../domain/tier.ts';
import { html } from '../../html.ts';
import { answerOf, curlOf } from './examples.ts';
import type { Guide, GuideParts, GuideSection } from './guide.ts';
import { table } from './table.ts';

const count = (value: number) => value.toLocaleString('en-US');
const rateHeaders = ['x-ratelimit-limit', 'x-ratelimit-remaining', 'x-ratelimit-reset'];

function byTier({ limits: { rates, pointsPerRequest } }: GuideParts): GuideSection {
  const rows = tiers.map((tier) => [tier, count(rates[tier]), count(rates[tier] * pointsPerRequest)]);
  const anonymous = ['no credential, per address', count(rates.anonymous), count(rates.anonymous * pointsPerRequest)];
  return {
    id: 'tiers',
    title: 'Requests per minute',
    body: html`${table(['Tier', 'Requests per minute', 'Points per minute'], [...rows, anonymous])}
<p>These are the settings of this server. A key has a minute of its own, which begins with its first request; all site sessions of an
account share one. REST, GraphQL, streams and AI clients take from the same minute. Without a credential only introspection of the graph is
charged.</p>`,
  };
}

function costs({ limits: { pointsPerRequest, view } }: GuideParts): GuideSection {
  return {
    id: 'points',
    title: 'What a request costs',
    body: html`<p>A REST request costs 1, whatever it returns. A request that fails costs 1 too. A GraphQL document costs
points for the work it does, ${pointsPerRequest} points to the request, and at least 1 request. It is charged what it could cost before
it runs; afterwards the difference to what it did cost is given back. <code>extensions.cost</code> tells both:</p>
${answerOf('graph-cost')}
<p>A document that costs more than your whole minute is <a href="/docs#error-400">400</a> and names its cost: sending it again does not
help. A stream is charged when it is opened; its later events are free.</p>
<p>Subscriptions that come in one request with their stream cost their points together.</p>
<p>The <a href="/dashboard">dashboard</a> takes at most ${view.first} requests to show its first symbol and ${view.next} for each further one
(${view.nextFree} with a free key, so that it can look at ten symbols a minute): for what a window of ordinary height shows and for the live
data. A panel further down takes 1 or 2 more when it comes into sight; candles of one minute take 1 more where they fill a second page.</p>`,
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
      ['Retry-After', 'Seconds after which to retry; on 429, and on 503 where it is known.'],
    ],
  )}
${answerOf('usage', rateHeaders)}`,
};

function tooMany(parts: GuideParts): GuideSection {
  const { inFlight, streams } = parts.limits;
  return {
    id: 'too-many',
    title: '429 and Retry-After',
    body: html`<p>Over the limit the answer is <a href="/docs#error-429">429</a> <code>rate_limited</code>. Wait as many seconds as
<code>Retry-After</code> says, then send the request again; <code>details.retry_after_seconds</code> is the same number. A rejected
request takes nothing from the minute.</p>
${answerOf('too-many', [...rateHeaders, 'retry-after'])}
<p>429 is also the answer to more than ${inFlight} requests for stock bars at a time with one API key (<code>Retry-After: 1</code>), and to more than
${count(streams)} streams at a time with one credential. <a href="/docs/paging#loop">Reading every page</a> has a loop that waits.</p>
${curlOf('usage', parts)}`,
  };
}

/** How much may be asked. */
export const ratesGuide: Guide = {
  path: '/docs/rates',
  title: 'Rates and budgets',
  about:
    'Requests per minute by tier, what a request costs, the headers that say what is left, and what to do after 429.',
  sections: (parts) => [byTier(parts), costs(parts), headers, tooMany(parts)],
};
