import type { Assets } from '../assets.ts';
import { html } from '../html.ts';
import { header } from '../shell.ts';

/** What stands above GraphiQL: the header of all pages, with the key that its requests go out under. */
export function aboveGraphiql(assets: Assets): string {
  const styles = ['colours.css', 'header.css', 'graphiql/graphiql.css'];
  return html`${styles.map((path) => html`<link rel="stylesheet" href="${assets.address(path)}">\n`)}
${header('/graphql')}
<script src="${assets.address('graphiql/client/before.ts')}"></script>
<script type="module" src="${assets.address('client/shell.ts')}"></script>
`.markup;
}
