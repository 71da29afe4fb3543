import { readFileSync } from 'node:fs';

function readVersion(): string {
  const text = readFileSync(new URL('../../../package.json', import.meta.url), 'utf8');
  return (JSON.parse(text) as { version: string }).version;
}

/** The program's version. */
export const productVersion = readVersion();
