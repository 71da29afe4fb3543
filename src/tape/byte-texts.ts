/**
 * What texts stand for, found by their bytes: a tape names the same few thousand tickers and condition lists a hundred million
 * times, mostly the one it named last. `read` is asked once for a text; null = the text stands for nothing, which is not kept,
 * for wrong texts have no bound.
 */
export function byteTexts<T>(
  read: (text: string) => T | null,
): (bytes: Buffer, start: number, end: number) => T | null {
  const known = new Map<string, T>();
  let last = Buffer.alloc(0);
  let lastMeaning: T | null = null;

  function isLast(bytes: Buffer, start: number, length: number): boolean {
    if (length !== last.length || lastMeaning === null) return false;
    // From the end: contracts of one root differ there.
    for (let i = length - 1; i >= 0; i--) if (bytes[start + i] !== last[i]) return false;
    return true;
  }

  return (bytes, start, end) => {
    if (isLast(bytes, start, end - start)) return lastMeaning;
    const text = bytes.toString('latin1', start, end);
    let meaning: T | null = known.get(text) ?? null;
    if (meaning === null) {
      meaning = read(text);
      if (meaning === null) return null;
      known.set(text, meaning);
    }
    last = Buffer.from(text, 'latin1');
    lastMeaning = meaning;
    return meaning;
  };
}
