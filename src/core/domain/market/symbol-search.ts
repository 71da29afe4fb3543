const isOfWord = (character: string | undefined) => character !== undefined && /[\p{L}\p{N}]/u.test(character);

/**
 * Rank of a symbol in a search for a text in lower case: 0 its ticker, 1 the beginning of it, 2 the beginning of a word
 * of the name, 3 another part of the name; null if it is not found.
 */
export function searchRank({ symbol, name }: { symbol: string; name: string | null }, text: string): number | null {
  const ticker = symbol.toLowerCase();
  if (ticker.startsWith(text)) return ticker === text ? 0 : 1;
  const words = name?.toLowerCase() ?? '';
  let at = words.indexOf(text);
  if (at === -1) return null;
  while (at > 0 && isOfWord(words[at - 1])) at = words.indexOf(text, at + 1);
  return at === -1 ? 3 : 2;
}
