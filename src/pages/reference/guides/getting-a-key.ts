import { html } from '../../html.ts';
import { originText } from '../../origin.ts';
import { answerOf, curlOf, shell } from './examples.ts';
import type { Guide, GuideParts, GuideSection } from './guide-types.ts';

/** Command lines of the gateway, which a test runs. */
const commands = (...lines: string[]) =>
  html`<pre tabindex="0" data-runs="tapegraph"><code>${lines.map((line) => `npm run tapegraph -- ${line}\n`)}</code></pre>`;

function sampleKey({ sampleKey: key }: GuideParts): GuideSection {
  const body =
    key === null
      ? html`<p>A server that runs the sample market (<code>npm start</code>) shows a key on its <a href="/">first page</a> if the
page is opened on the same machine. The key can read all of the sample market and is revoked when other data is stored.</p>`
      : html`<p>This server runs the sample market. This key can read all of it:</p>
<p><code id="guide-sample-key">${key}</code></p>
<p class="row" data-needs-script><button type="button" class="primary" data-use-sample-key>Use it in this browser</button>
<button type="button" data-copy="#guide-sample-key">Copy</button></p>`;
  return { id: 'sample', title: 'The sample market’s key', body };
}

const fromOperator: GuideSection = {
  id: 'operator',
  title: 'A key from the operator',
  body: html`<p>The operator of the server creates accounts and keys on its command line. The tier of an account’s keys and its
market-data declaration decide what they can read.</p>
${commands(
  'account set acme --api-tier pro --classification non_professional',
  'key create --account acme --name research',
  'key list --account acme',
)}
<p>A key is printed once: the server stores only its hash. <code>--expires 2027-06-30</code> sets the day it expires.
<code>key revoke</code> with an id of <code>key list</code> revokes it; running servers reject it within 5 seconds.</p>`,
};

function fromSession(parts: GuideParts): GuideSection {
  return {
    id: 'session',
    title: 'A key of your own, with a site session',
    body: html`<p>Keys can be managed only with a site session, never with a key. A session token is signed by the operator’s site or
identity provider. A server that signs tokens itself prints one for an account:</p>
${commands('account set me --site-tier pro --api-tier pro', 'session create --account me --expires-in 1h')}
<p>First the account declares its market-data status: <a href="/docs#classify">the declaration</a>. <code>professional</code> is final. The
commands below expect the token in the variable <code>KEY</code>.</p>
${curlOf('declare', parts)}${answerOf('declare')}
<p>Then create the key. Its secret is shown only in this answer. An account can have ${parts.limits.liveKeys} active keys.</p>
${curlOf('create-key', parts)}${answerOf('create-key')}
<p>The same request with an API key is rejected:</p>${answerOf('key-rejected')}`,
  };
}

function firstRequest(parts: GuideParts): GuideSection {
  return {
    id: 'use',
    title: 'The first request',
    body: html`<p>Send the credential in <code>Authorization: Bearer</code>, or a key in <code>X-API-Key</code>. Never put it into a URL, because
URLs are stored in logs and browser histories. Read it from the terminal instead of typing it into a command:</p>
<pre tabindex="0"><code>read -rs KEY   # paste your key</code></pre>
${curlOf('first-request', parts)}${answerOf('first-request')}
<p>Without a valid credential the answer is <a href="/docs#error-401">401</a>. If the credential is valid but may not read the data, it is
<a href="/docs#error-403">403</a>; if the tier is too low, <code>details.required_tier</code> names the required tier.
<a href="/docs#symbol"><code>/v2/symbols/{symbol}</code></a> reports what a symbol requires.</p>
${shell(html`curl -H "X-API-Key: $KEY" '${originText}/v2/symbols/SPY'`)}`,
  };
}

/** Guide to getting a key, and using it. */
export const keyGuide: Guide = {
  path: '/docs/key',
  title: 'Getting a key',
  alsoCalled: 'API key, authentication, authorization, credentials, token, login, quickstart',
  about: 'The sample market’s key, keys from the operator, and keys that an account creates with a site session.',
  sections: (parts) => [sampleKey(parts), fromOperator, fromSession(parts), firstRequest(parts)],
};
