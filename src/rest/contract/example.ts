/** Texts of a request: its parameters by name, and a body. */
export interface RequestTexts {
  params: Readonly<Record<string, string>>;
  body?: string;
}

/**
 * A request that a route answers with 200. The sender replaces texts in braces: `{symbol}` a ticker, `{contract}` an
 * option contract, `{session}` a session with data, `{previous}` the one before, `{next}` the trading day after it,
 * `{expiry}` an expiration date; `{key}`, `{trade}`, `{account}`, `{watchlist}`, `{screen}` and `{import}` the id of
 * a record of that kind.
 */
export interface Example extends RequestTexts {
  /** The request that the reference page shows instead: values and filters that suit the sample market. */
  shown: Partial<RequestTexts>;
}

/** The example of a route as it declares it, with the parameters of its path: `:symbol` is `{symbol}`. */
export function exampleOf(path: string, { params, shown = {}, ...body }: Partial<Example>): Example {
  const inPath = [...path.matchAll(/:(\w+)/g)].map(([, name]) => [name!, `{${name}}`]);
  return { params: { ...Object.fromEntries(inPath), ...params }, ...body, shown };
}

/** Replaces the texts in braces; an unknown one is unchanged. */
export function filledIn(text: string, values: Readonly<Partial<Record<string, string>>>): string {
  return text.replace(/\{(\w+)\}/g, (whole, name: string) => values[name] ?? whole);
}
