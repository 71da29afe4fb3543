/**
 * The lists whose length no number of their own decides: what each stands for, and how many items it may have at most.
 */
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
  /** Symbols of one sector, when all are asked for. */
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

/** Who asks, as far as it decides how much may be asked. */
export interface AskingCaller {
  kind: 'key' | 'session';
}

/** A kind of list, by which a field above says how many items it has. */
type ListName = keyof typeof listSizes;

/** Items of each kind of list below a field. */
export type Sizes = Readonly<Record<string, number>>;

/**
 * Cost of a field, as `extensions.cost`. Points are measured: ten are the CPU of a page of 1,000 bars of nine values. A
 * value, of a field or a list item, costs the same everywhere and is not said here.
 */
export interface FieldCost<Args = never, Name extends string = string> {
  /** Points of running the field for one parent; by the items that it reads, whether or not they are asked for. */
  each?: number | ((sizes: { readonly [name in Name]: number }) => number);
  /** Points of its first run in a document: the statements that a batch of parents shares. */
  once?: number;
  /** Points of each item of its list, beyond those of its values. */
  item?: number;
  /** Kind of a list, or its maximum number of items. */
  rows?: Name | number;
  /** Number of items of the lists below, decided by the arguments and what the caller's kind may ask. */
  sizes?: (args: Args, caller: AskingCaller, above: Sizes) => { readonly [name in Name]?: number };
  /** Bytes of its value as JSON, if its type does not define them. */
  bytes?: number;
  /**
   * True if its value is a text as long as somebody wrote it: then the bytes of an answer are counted, not taken from
   * `bytes`.
   */
  isWritten?: boolean;
  /** Number of values for one parent, where that is not one: a subscription sends several at once. */
  times?: (args: Args, above: Sizes) => number;
}

/** Rows of a chain that are left when one expiry is asked for. */
export const contractsOfExpiry = 1200;

/** Cost of a mutation beside its answer: one request. */
export const writing = { once: 9 } as const;

/** Cost of the quotes of the whole registry as of an instant in the past; live ones are computed once a minute. */
export const registryQuotesCost = 30;

/** Extensions of a field that costs something. */
export function costs<Args = never, Name extends string = ListName>(
  cost: FieldCost<Args, Name>,
): { cost: FieldCost<Args, Name> } {
  return { cost };
}

/** Declared cost of a field; undefined = its values alone. */
export function costOf(field: { extensions: object }): FieldCost | undefined {
  return (field.extensions as { cost?: FieldCost }).cost;
}

/** A number of items that was asked for, within 1 and the most there are; `otherwise` when none was asked for. */
export function itemsAsked(asked: number | null | undefined, most: number, otherwise = most): number {
  return Math.max(1, Math.min(asked ?? otherwise, most));
}
