import { readFileSync } from 'node:fs';

/** A document's text as a reader takes it: on one line, so that an expected sentence may be wrapped anywhere. */
export function proseOf(path: string): string {
  return readFileSync(path, 'utf8').replaceAll(/\s+/g, ' ');
}
