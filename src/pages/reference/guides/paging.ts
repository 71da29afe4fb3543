import { writtenPath } from '../../../rest/contract/route.ts';
import { html } from '../../html.ts';
import { usualOrigin, withOrigin } from '../../origin.ts';
import { answerOf, curlOf } from './examples.ts';
import { type Guide, type GuideParts, type GuideSection, table } from './guide-types.ts';

const count = (value: number) => value.toLocaleString('en-US');

function limits({ limits: { pages, barSpanDays, gexTop, quotes }, compiled }: GuideParts): GuideSection {
  const rows = pages.map(({ route: name, default: usual, max, keyMax = max }) => {
    const { path } = compiled.find(({ route }) => route.name === name)!.route;
    return [`\`${writtenPath(path)}\``, count(Math.min(usual, keyMax)), count(keyMax), count(max)];
  });
  const spans = Object.entries(barSpanDays).map(([timeframe, days]) => [`\`${timeframe}\``, `${count(days)} days`]);
  return {
    id: 'limits',
    title: 'Limits',
    body: html`<p>A larger <code>limit</code> is clamped, never rejected. <code>meta.caps.applied</code> lists what was reduced
(<code>limit_clamped</code>, <code>range_clamped</code>); it is empty if nothing was.</p>
${table(['Route', 'Default with a key', 'At most with a key', 'At most with a session'], rows)}
${answerOf('clamped')}
<p>With an API key, a request for stock bars covers at most:</p>${table(['Timeframe', 'Span'], spans)}
<p>If the requested span is longer, it is shortened at its start. A request for quotes can have at most ${quotes} symbols; more return 400. With an API
key, GEX history returns the ${gexTop} largest strikes of each capture unless <code>top</code> is sent; <code>meta.top_defaulted</code> reports this.</p>`,
  };
}

function cursors(parts: GuideParts): GuideSection {
  return {
    id: 'cursors',
    title: 'Cursors',
    alsoCalled: 'pagination, next page, offset',
    body: html`<p>If there are more rows, <code>meta.cursor</code> is the position of the next page: send it as <code>cursor</code>, with
all other parameters unchanged. On the last page it is absent. A cursor is opaque and belongs to its symbol and window; with a changed cursor
the request returns <a href="/docs#error-400">400</a>. All pages together contain the same rows as one large page, also while the session grows. The other
formats have the URL of the next page in <code>Link: &lt;…&gt;; rel="next"</code>.</p>
${curlOf('first-page', parts)}${answerOf('first-page')}${answerOf('next-page')}`,
  };
}

/** Reads every page of an address; waits if the rate is exceeded. Runs in Node and in browsers. */
const loop = (address: string) => `async function* rowsOf(address, key) {
  let cursor;
  do {
    const url = new URL(address);
    if (cursor) url.searchParams.set('cursor', cursor);
    const response = await fetch(url, { headers: { authorization: 'Bearer ' + key } });
    if (response.status === 429) {
      const seconds = Number(response.headers.get('retry-after'));
      await new Promise((resolve) => setTimeout(resolve, seconds * 1000));
      continue;
    }
    const { data, meta, error } = await response.json();
    if (error) throw new Error(error.code + ': ' + error.message);
    yield* data;
    cursor = meta.cursor;
  } while (cursor);
}

for await (const row of rowsOf('${address}', process.env.KEY)) {
  console.log(JSON.stringify(row));
}`;

function everyPage(): GuideSection {
  const code = loop(`${usualOrigin}/v2/offexchange/AAPL/profile?from=2026-11-02&limit=20`);
  return {
    id: 'loop',
    title: 'Reading every page',
    body: html`<p>In JavaScript, without packages. Save it as <code>rows.mjs</code> and run <code>node rows.mjs</code>.</p>
<pre tabindex="0" data-runs="node"><code>${withOrigin(code)}</code></pre>`,
  };
}

function caching(parts: GuideParts): GuideSection {
  return {
    id: 'caching',
    title: 'ETag and 304',
    alsoCalled: 'cache, conditional request',
    body: html`<p>An answer about past sessions only has an <code>ETag</code> and <code>Cache-Control: private</code>: your client can store it, a
shared cache must not. Send the tag in <code>If-None-Match</code>: if nothing has changed, the answer is 304 without a body. Such a request costs 1 request,
like any other. Each media type and encoding has its own tag. An answer that can still change is <code>no-store</code> and has no tag.</p>
${curlOf('tagged', parts)}${answerOf('tagged', ['etag', 'cache-control'])}
<p>The same request with that tag:</p>${answerOf('not-modified', ['etag', 'cache-control'])}`,
  };
}

function windows(parts: GuideParts): GuideSection {
  return {
    id: 'windows',
    title: 'Windows: to is exclusive',
    body: html`<p>A window of stock bars is <code>[from, to)</code>: a bar that starts at <code>to</code> is not included. For one day, send that day and the
next. A window from a day to the same day is always empty, and <code>meta.note</code> says so. If <code>from</code> is after <code>to</code>, the answer is 400. The off-exchange
routes use whole sessions: there <code>to</code> is inclusive.</p>
${curlOf('empty-window', parts)}${answerOf('empty-window')}${curlOf('whole-day', parts)}${answerOf('whole-day')}`,
  };
}

function nothing(parts: GuideParts): GuideSection {
  return {
    id: 'empty',
    title: 'Empty answers',
    body: html`<p>An empty result is not an error. A weekend, a holiday, a contract without trades or a window before the first capture returns 200 with an empty
list or a null payload. Symbols that are not registered and unknown ids return <a href="/docs#error-404">404</a>.</p>
${curlOf('quiet-day', parts)}${answerOf('quiet-day')}`,
  };
}

/** Guide to paging long answers, and to caching answers. */
export const pagingGuide: Guide = {
  path: '/docs/paging',
  title: 'Paging and caching',
  alsoCalled: 'pagination, pages, paginate',
  about: 'Limits of pages, cursors, a loop that reads them all, ETag and 304, windows and empty answers.',
  sections: (parts) => [limits(parts), cursors(parts), everyPage(), caching(parts), windows(parts), nothing(parts)],
};
