import { errorStatuses } from '../../rest/openapi/errors.ts';
import { type Html, html } from '../html.ts';
import { capturedExamples } from './example-answers.ts';
import { jsonText } from './json-text.ts';

/** Statuses of failures without a route. */
const besideRoutes = {
  405: {
    description: 'The path does not support this method. Allow lists the methods it supports.',
    codes: { invalid_params: '' },
  },
};

/** Examples of failures, by status. */
export function errorSection(): Html {
  const all = Object.entries({ ...errorStatuses, ...besideRoutes }).sort(
    ([one], [other]) => Number(one) - Number(other),
  );
  return html`<section id="errors" class="group" aria-labelledby="errors-title"><h2 id="errors-title">Errors</h2>
<p>A failure is <code>{"error": {"code", "message", "details"?}}</code>; in GraphQL the code is in <code>extensions.code</code>. The
message names what was wrong. Every answer has an <code>x-request-id</code>: include it when you report a problem.
Retry 429 after <code>Retry-After</code> seconds, and 502 and 503 after a pause. Do not retry other failures.</p>
${all.map(([status, { description, codes }]) => {
  const captured = capturedExamples.failures[status];
  return html`<article class="error" id="error-${status}"><h3><span class="status">${status}</span> ${Object.keys(codes).map((code) => html`<code>${code}</code> `)}</h3>
<p>${description}</p>
${captured ? html`<p class="muted asked"><code>${captured.method} ${captured.address}</code></p><pre tabindex="0"><code>${jsonText(captured.answer)}</code></pre>` : null}
</article>`;
})}
</section>`;
}
