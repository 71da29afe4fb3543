import type { Assets } from '../../assets.ts';
import { type Html, html } from '../../html.ts';
import type { SiteState } from '../../market-note.ts';
import type { Page } from '../../page-document.ts';
import type { PagesParts } from '../../pages-dependencies.ts';
import { contents } from '../docs-navigation.ts';
import { searchDialog } from '../search-dialog.ts';
import { searchPath } from '../search-index.ts';
import type { Guide, GuideSection } from './guide-types.ts';
import { guides } from './guides.ts';

const referenceLinks = [
  ['/docs', 'API reference'],
  ['/docs#stream', 'Live streams'],
  ['/docs#errors', 'Errors'],
  ['/docs#mcp', 'AI clients'],
] as const;

const links = (title: string, all: readonly (readonly [to: string, name: string])[]) =>
  html`<div class="nav-group"><h2>${title}</h2><ul>${all.map(([to, name]) => html`<li><a href="${to}">${name}</a></li>`)}</ul></div>`;

function section({ id, title, body }: GuideSection): Html {
  return html`<section id="${id}" class="group" aria-labelledby="${id}-title"><h2 id="${id}-title">${title}</h2>
${body}</section>`;
}

/** A link to the next guide; to the reference after the last. */
function next(guide: Guide): Html {
  const { path, title } = guides[guides.indexOf(guide) + 1] ?? { path: '/docs', title: 'API reference' };
  return html`<p class="next">Next: <a href="${path}">${title}</a></p>`;
}

type GuidePage = (parts: PagesParts, site: SiteState, assets: Assets) => Page;

/** The page of a guide. */
export function guidePage(guide: Guide): GuidePage {
  return ({ limits, compiled, now }, site, assets) => {
    const sampleKey = site.sample?.key ?? null;
    const sections = guide.sections({ nowMs: now(), limits, compiled, sampleKey });
    const onPage = sections.map(({ id, title }) => [`#${id}`, title] as const);
    return {
      title: `${guide.title} · Tapegraph`,
      description: guide.about,
      current: guide.path,
      styles: ['reference/reference.css', 'reference/guides/guides.css'],
      scripts: ['reference/client/guide-main.js'],
      body: html`<div class="reference">
${contents(guide.path, html`${links('On this page', onPage)}${links('Reference', referenceLinks)}`)}
<main id="main" class="guide">
<h1>${guide.title}</h1>
<p class="lead">${guide.about}</p>
${sections.map(section)}
${next(guide)}
</main></div>
${searchDialog(assets.address(searchPath))}`,
    };
  };
}
