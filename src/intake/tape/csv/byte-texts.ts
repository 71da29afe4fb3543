const slotCount = 64;

function isText(text: Buffer, bytes: Buffer, start: number, end: number): boolean {
  const { length } = text;
  if (length !== end - start) return false;
  // From the end, where contracts of one root differ.
  for (let i = length - 1; i >= 0; i--) if (bytes[start + i] !== text[i]) return false;
  return true;
}

/**
 * Cached meanings of texts, found by their bytes: a tape repeats the same few thousand tickers and condition lists a
 * hundred million times, mostly a recent one. `read` is called once per text; null = no meaning, which is not cached,
 * because the number of invalid texts is unlimited.
 */
export function byteTexts<T>(
  read: (text: string) => T | null,
): (bytes: Buffer, start: number, end: number) => T | null {
  const known = new Map<string, T>();
  // Recent texts, by a hash of their last bytes: a hit creates no text and reads no table.
  const recent: { text: Buffer; meaning: T | null }[] = Array.from({ length: slotCount }, () => ({
    text: Buffer.alloc(0),
    meaning: null,
  }));

  return (bytes, start, end) => {
    const slot = recent[(end - start + bytes[end - 1]! + 5 * bytes[end - 2]!) & (slotCount - 1)]!;
    if (slot.meaning !== null && isText(slot.text, bytes, start, end)) return slot.meaning;
    const text = bytes.toString('latin1', start, end);
    let meaning: T | null = known.get(text) ?? null;
    if (meaning === null) {
      meaning = read(text);
      if (meaning === null) return null;
      known.set(text, meaning);
    }
    slot.text = Buffer.from(text, 'latin1');
    slot.meaning = meaning;
    return meaning;
  };
}
