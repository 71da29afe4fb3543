/** True if `text` can be stored: it has no NUL and no unpaired surrogate. */
export function isStorableText(text: string): boolean {
  return !text.includes('\u0000') && text.isWellFormed();
}

/** Description of a text that `isStorableText` accepts. */
export const storableText = 'text without NUL characters and without halves of surrogate pairs';
