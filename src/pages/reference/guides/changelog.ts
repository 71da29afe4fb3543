import { endedOn, writtenPath } from '../../../rest/contract/route.ts';
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

function present({ limits: { methodologyVersion }, compiled, nowMs }: GuideParts): GuideSection {
  const retiring = compiled.flatMap(({ route }) => {
    if (!route.sunset) return [];
    const until = new Date(route.sunset.atMs).toISOString().slice(0, 10);
    const path = writtenPath(route.path);
    const { successor } = route.sunset;
    return [{ name: route.name, path, successor, until, isOver: endedOn(route, nowMs) !== null }];
  });
  return {
    id: 'versions',
    title: 'Versions',
    body: html`<p>Routes are below <code>/v2</code>. Fields can be added to answers without a new version: ignore fields that you do not know, and expect new values of
<code>meta.plane</code>. The definitions of the figures have their own version, currently <b>${methodologyVersion}</b>. It is raised when
the meaning of a figure changes; in the graph, each GEX capture has the version it was computed with as <code>methodologyVersion</code>.</p>
${retiring.map(
  ({ name, path, successor, isOver, until }) =>
    html`<p>${isOver ? 'Ended' : 'Deprecated'}: <a href="/docs#${name}"><code>${path}</code></a> ${isOver ? 'was' : 'is'} served until ${until}; use <code>${successor}</code>. Its answers have the headers <code>Deprecation</code> and <code>Sunset</code>.</p>`,
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
