import { isStorableText } from '../../../platform/runtime/storable-text.ts';
import type { NewAccount } from './journal.ts';
import { idField, RecordFields, readText } from './record-fields.ts';

/** Longest name of a journal account or broker, in characters. */
const maxNameLength = 500;

const nameField = {
  read: readText((text) => text.length <= maxNameLength && isStorableText(text)),
  expected: `expected text of at most ${maxNameLength} characters`,
};

/** Fields of a journal account (contract-notes 3). */
export const journalAccountFields = new RecordFields<NewAccount>({
  id: { name: 'id', ...idField, absent: () => null },
  name: { name: 'name', ...nameField },
  broker: { name: 'broker', ...nameField, absent: () => null },
});
