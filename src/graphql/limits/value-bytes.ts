import { type GraphQLNamedType, isEnumType, isLeafType } from 'graphql';

const braces = 2;

/** Bytes of a string of unknown length, including its quotes. */
const usualText = 20;

/** Bytes of a scalar's usual value as JSON, including quotes. */
const scalars: Record<string, number> = {
  Boolean: 5,
  Int: 5,
  // Most are prices of two decimals; greeks and exposures have all 17 digits.
  Float: 7,
  Long: 7,
  EpochMs: 13,
  StrikeThousandths: 7,
  SessionDate: 12,
  Ticker: 6,
  Instrument: 6,
  Timeframe: 4,
  OptionContractId: 24,
  ID: 28,
  // Eleven scope groups and their counts.
  CountsByName: 260,
};

/** Usual bytes of a value of a type as JSON; of an object, its braces alone. */
export function valueBytes(type: GraphQLNamedType): number {
  if (!isLeafType(type)) return braces;
  if (isEnumType(type)) return 2 + Math.max(...type.getValues().map(({ name }) => name.length));
  return scalars[type.name] ?? usualText;
}
