/** Types of the graph that the REST contract has another word for. */
const renamed: Readonly<Record<string, string>> = {
  StockBar: 'Bar',
  Symbol: 'RegistryEntry',
  RankedPrint: 'EodPrint',
  // Generators call the parameter `basis` of the route GexReferenceBasis.
  GexReferenceBasis: 'ReferenceBasis',
};

/** Selections of a type that are not what its name says elsewhere, by operation and type. */
const ofOperation: Readonly<Record<string, string>> = {
  'GexGrid GexStrike': 'GexGridStrike',
  'GexReference GexStrike': 'GexReferenceStrike',
  'StreamGex GexStrike': 'GexUpdateStrike',
  'StreamGex GexCapture': 'GexUpdate',
  'GexChange GexCapture': 'ComparedGexCapture',
  'OffExchangeActivity OffExchangeMeta': 'OffExchangeActivityMeta',
  'Spot PlainMeta': 'SpotMeta',
};

/** The name of the schema that an operation's selection of a type is: stable, and one per shape. */
export function schemaName(operation: string, type: string): string {
  return ofOperation[`${operation} ${type}`] ?? enumName(type);
}

/** The name of the schema that a type without selections is. */
export function enumName(type: string): string {
  return renamed[type] ?? type;
}

/** The name of an operation's whole answer. Writes that answer alike share it. */
export function responseName(operation: string): string {
  const [, what] = /^(?:Create|Replace|Patch)(Journal\w+)$/.exec(operation) ?? [];
  if (/^DeleteJournal/.test(operation)) return 'DeletedFromJournalResponse';
  return `${what ?? operation}Response`;
}
