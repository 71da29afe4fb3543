import { type Html, html } from '../../html.ts';
import { prose } from '../../prose.ts';
import type { Guide, GuideParts, GuideSection } from './guide-types.ts';
import { type Change, changes } from './release-changes.ts';

const list = (title: string, items: readonly string[]): Html | null =>
  items.length === 0 ? null : html`<h3>${title}</h3><ul>${items.map((item) => html`<li>${prose(item)}</li>`)}</ul>`;

function release({ date, methodology, added, changed }: Change): GuideSection {
  return {
    id: `changes-${date}`,
    title: date,
    body: html`${methodology !== null && html`<p>Figures are computed by methodology version <b>${methodology}</b>.</p>`}
${list('Added', added)}${list('Changed', changed)}`,
  };
}

function present({ limits: { methodologyVersion }, compiled }: GuideParts): GuideSection {
  const retiring = compiled.flatMap(({ route: { name, path, sunset } }) => (sunset ? [{ name, path, ...sunset }] : []));
  return {
    id: 'versions',
    title: 'Versions',
    body: html`<p>Routes are below <code>/v2</code>. Fields can be added to answers without a new version: ignore fields that you do not know, and expect new values of
<code>meta.plane</code>. The definitions of the figures have their own version, currently <b>${methodologyVersion}</b>. It is raised when
the meaning of a figure changes; in the graph, each GEX capture has the version it was computed with as <code>methodologyVersion</code>.</p>
${retiring.map(
  ({ name, path, atMs, successor }) =>
    html`<p>Deprecated: <a href="/docs#${name}"><code>${path.replace(/:(\w+)/g, '{$1}')}</code></a> is served until ${new Date(atMs).toISOString().slice(0, 10)}; use <code>${successor}</code>. Its answers have the headers <code>Deprecation</code> and <code>Sunset</code>.</p>`,
)}`,
  };
}

/** Changes of the published contract. */
export const changelogGuide: Guide = {
  path: '/docs/changelog',
  title: 'Changelog',
  alsoCalled: 'release notes, what’s new, deprecation',
  about: 'Changes of the published contract and of the definitions of the figures.',
  sections: (parts) => [present(parts), ...changes.map(release)],
};
