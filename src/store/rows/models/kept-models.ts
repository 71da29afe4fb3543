import { type Model, tableOf } from './model-tables.ts';

/**
 * Models of market data whose rows are kept when a later generation replaces them (decision 37). Off-exchange figures
 * are not among them: two generations of them could be subtracted. Nor are quotes of contracts, which are never served.
 */
export const keptModels = [
  'Symbol',
  'OptionRoot',
  'Rate',
  'Split',
  'Dividend',
  'VolatilityDay',
  'BarBlock',
  'LiveQuote',
  'ChainCapture',
  'GexCapture',
  'OpenInterestBlock',
  'OptionBarBlock',
  'GreeksSlot',
  'GreeksMinute',
  'FlowCoverage',
  'FlowEvent',
  'FlowLeg',
  'CrossSection',
  'ContractMinuteBlock',
  'RankedPrint',
  'RankedSession',
] as const satisfies readonly Model[];

const kept: ReadonlySet<Model> = new Set(keptModels);

/** True for a model whose replaced rows are kept. */
export const isKept = (model: Model) => kept.has(model);

/** The table of the rows of a model that were replaced. */
export const supersededTable = (model: Model) => `superseded_${tableOf(model).table}`;
