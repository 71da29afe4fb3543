/** Lists whose length no argument determines, with their maximum number of items. */
export const listSizes = {
  /** Rows of an option chain, or contracts: an index's has the most. */
  contracts: 20_000,
  /** Strikes of a chain over all expiries. */
  strikes: 1000,
  /** Strikes of one expiry each, over all expiries: half of the contracts. */
  strikesByExpiry: 10_000,
  /** Expiries of a chain. */
  expiries: 60,
  /** Chain rows behind one strike. */
  rowsOfStrike: 60,
  /** Captures of a session: one every 5 minutes, from before the open to after the close. */
  captures: 100,
  /** One-minute samples of a session. */
  minutes: 390,
  /** Symbols of the registry. */
  symbols: 250,
  sectors: 20,
  /** Symbols of one sector, if all are requested. */
  symbolsOfSector: 15,
  /** Contracts of one large trade. */
  legs: 4,
  /** Condition codes of a print. */
  conditions: 4,
  /** Caps that changed an answer. */
  caps: 2,
  /** Generations of stored data that an answer was made from: the most that are shown. */
  generations: 50,
  /** Rows of a page, where its arguments do not say. */
  page: 100,
} as const;

/** The longest that each list gets, where the length above is the usual one: an estimate's maximum assumes these. */
export const longestLists: Sizes = {
  ...listSizes,
  contracts: 40_000,
  strikesByExpiry: 20_000,
  rowsOfStrike: 120,
  captures: 400,
  symbols: 20_000,
  sectors: 100,
  symbolsOfSector: 2000,
  legs: 100,
  conditions: 20,
  caps: 8,
};

/** Properties of the caller that determine its limits. */
export interface AskingCaller {
  kind: 'key' | 'session';
}

/**
 * A kind of list, by which an enclosing field sets its length; or other work that arguments decide: points of objects
 * read by their ids, requests of an import, past instants and the points of one, instants of knowledge.
 */
type SizeName = keyof typeof listSizes | 'node' | 'requests' | 'past' | 'pastPoints' | 'known';

/** Number of items of each kind of list below a field. */
export type Sizes = Readonly<Record<string, number>>;

/** Length of a field's value, its option `size`. */
export interface FieldSize<Name extends string = SizeName> {
  /** Points of each item of its list, besides those of its values. */
  item?: number;
  /** Kind of a list, or its maximum number of items. */
  rows?: Name | number;
  /** Maximum number of items, if `rows` is a usual one. */
  mostRows?: number;
  /** Bytes of its value as JSON, if its type does not define them. */
  bytes?: number;
  /** True if its value is a text of any length: the bytes of an answer are then counted, not taken from `bytes`. */
  isWritten?: boolean;
}

/**
 * Cost of a field, its option `price`, and the length of its value. Points are measured: ten are the CPU of a page of
 * 1,000 bars of nine values. A value, of a field or a list item, costs the same everywhere and is not included.
 */
export interface FieldCost<Args = never, Name extends string = SizeName> extends FieldSize<Name> {
  /**
   * Points of running the field for one parent, depending on the items that it reads, whether or not they are selected.
   */
  each?: number | ((sizes: { readonly [name in Name]: number }) => number);
  /** Points of its first run in a document: the statements shared by a batch of parents. */
  once?: number;
  /** Number of items of the lists below, decided by the arguments and what the caller's kind may ask. */
  sizes?: (args: Args, caller: AskingCaller, above: Sizes) => { readonly [name in Name]?: number };
  /** Number of values per parent, if that is not one: a subscription sends several at once. */
  times?: (args: Args, above: Sizes) => number;
}

/** Number of rows of a chain if one expiry is requested. */
export const contractsOfExpiry = 1200;

/** Price of a field that looks up what the request has read before: its value, and the look-up. */
export const free = {} as const;

/** Cost of a mutation besides its answer: one request. */
export const writing = { once: 9 } as const;

/** Cost of the quotes of the whole registry as of an instant in the past; live ones are computed once a minute. */
export const registryQuotesCost = 30;

/** A declared cost, whatever names its sizes have. */
export type AnyCost = FieldCost<never, string>;

/** Declared cost of a field; undefined = its values alone. */
export function costOf(field: { extensions: object }): AnyCost | undefined {
  return (field.extensions as { cost?: AnyCost }).cost;
}

/** A requested number of items, clamped to 1 and the maximum; `otherwise` is the default. */
export function itemsAsked(asked: number | null | undefined, most: number, otherwise = most): number {
  return Math.max(1, Math.min(asked ?? otherwise, most));
}
