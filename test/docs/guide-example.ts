import { readFileSync } from 'node:fs';

/** The patch of the guide to adding a route. */
export const guidePatch = 'test/docs/guide/route.patch';

const patch = readFileSync(guidePatch, 'utf8');

/** Files that the patch edits. */
export const editedByGuide = [...patch.matchAll(/^diff --git a\/(\S+)/gm)].map(([, path]) => path!);
