import { invalidParameter } from '../../wire/failure.ts';
import { isStorableText } from '../../wire/stored-text.ts';
import { isId, maxIdLength } from '../account.ts';
import type { JournalAccount } from './journal.ts';

/** Longest name of a journal account or broker, in characters. */
const maxNameLength = 500;

function name(field: string, value: unknown): string {
  if (typeof value !== 'string' || value.length > maxNameLength || !isStorableText(value)) {
    throw invalidParameter(field, `expected text of at most ${maxNameLength} characters`);
  }
  return value;
}

const isSent = (value: unknown) => value !== undefined && value !== null && value !== '';

/**
 * Reads a journal account (contract-notes 3: `id, name, broker`); throws 400 naming the field that is wrong. Null and
 * empty count as not sent; other keys are skipped. An id that is not sent is null.
 */
export function requireJournalAccount(
  fields: Readonly<Record<string, unknown>>,
): Omit<JournalAccount, 'id'> & { id: string | null } {
  const { id, name: sentName, broker } = fields;
  if (isSent(id) && !(typeof id === 'string' && isId(id))) {
    throw invalidParameter('id', `expected 1 to ${maxIdLength} characters without control characters`);
  }
  if (!isSent(sentName)) throw invalidParameter('name', 'is required');
  return {
    id: isSent(id) ? (id as string) : null,
    name: name('name', sentName),
    broker: isSent(broker) ? name('broker', broker) : null,
  };
}
