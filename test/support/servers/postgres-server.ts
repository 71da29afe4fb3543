// Vitest's global setup of the project `server`: the PostgreSQL that TEST_DATABASE_URL names, or that of this machine.
import type { TestProject } from 'vitest/node';
import { makeTemplate, onServer } from './template-database.ts';

const named = new URL(process.env.TEST_DATABASE_URL ?? 'postgresql://postgres@127.0.0.1:5432/postgres');
named.pathname = '/{database}';
const url = decodeURI(named.href);

/** Why the server cannot be used; null = it answers. In CI its absence is an error. */
export async function noServer(): Promise<string | null> {
  try {
    await onServer(url, 'select 1');
    return null;
  } catch (error) {
    const where = `${named.hostname}:${named.port || 5432}`;
    if (process.env.CI === 'true') throw new Error(`CI needs the PostgreSQL server at ${where}.`, { cause: error });
    return `no PostgreSQL server answers at ${where}`;
  }
}

// English order, as many a server has it: what the store orders must not depend on it.
const inEnglish = "template template0 encoding 'UTF8' locale_provider icu icu_locale 'en-US'";

export async function setup(project: TestProject): Promise<() => Promise<void>> {
  const canEnglish = await onServer(
    url,
    `select 1 from pg_collation where collname = 'en-US-x-icu' and current_setting('server_version_num')::int >= 150000`,
  );
  return makeTemplate(project, url, canEnglish.length > 0 ? { making: inEnglish } : {});
}
