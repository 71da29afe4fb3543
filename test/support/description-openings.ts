/** First words that make a clause of a description, where docs/style.md asks for a noun phrase or a verb. */
const clause = /^(What|Whether|How|Of|For who|Which|Whose|Where)\b/;

/** Descriptions that begin with a clause, each with its position. */
export const clausesIn = (descriptions: Iterable<readonly [position: string, text: string | null | undefined]>) =>
  [...descriptions].filter(([, text]) => clause.test(text ?? '')).map(([position, text]) => `${position}: ${text}`);
