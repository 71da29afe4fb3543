import { readFileSync } from 'node:fs';

/** The example of a guide of docs/architecture.md. */
export interface GuideExample {
  /** Path of the patch that carries it out. */
  patch: string;
  /** Files that the patch edits. */
  edited: string[];
  /** Lines that it adds to files of src/. */
  linesOfSource: number;
}

function guideExample(name: string): GuideExample {
  const patch = `test/docs/guide/${name}.patch`;
  const text = readFileSync(patch, 'utf8');
  const edited = [...text.matchAll(/^diff --git a\/(\S+)/gm)].map(([, path]) => path!);
  const parts = text.split(/^diff --git a\//m).filter((part) => part.startsWith('src/'));
  const linesOfSource = parts.join('').match(/^\+(?!\+\+ )/gm)?.length ?? 0;
  return { patch, edited, linesOfSource };
}

/** A route: totals of a session's option flow. */
export const routeExample = guideExample('route');
/** A field of a chain's row: the change of open interest. */
export const fieldExample = guideExample('field');
/** A vendor's format: end-of-day summaries with the chains of all underlyings. */
export const vendorExample = guideExample('vendor');
/** A number of a strike row: contracts of calls traded. */
export const strikeExample = guideExample('strike');

/** The files that the examples edit. */
export const guideFiles = [routeExample, fieldExample, vendorExample, strikeExample].flatMap(({ edited }) => edited);
