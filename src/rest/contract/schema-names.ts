/** Types of the graph that have another name in the REST contract. */
const renamed: Readonly<Record<string, string>> = {
  StockBar: 'Bar',
  Symbol: 'RegistryEntry',
  RankedPrint: 'EodPrint',
  // Generators name the parameter `basis` of the route GexReferenceBasis.
  GexReferenceBasis: 'ReferenceBasis',
};

/** Selections of a type that differ from the usual schema of that name, by operation and type. */
const ofOperation: Readonly<Record<string, string>> = {
  'GexGrid GexStrike': 'GexGridStrike',
  'GexReference GexStrike': 'GexReferenceStrike',
  'StreamGex GexStrike': 'GexUpdateStrike',
  'StreamGex GexCapture': 'GexUpdate',
  'GexChange GexCapture': 'ComparedGexCapture',
  'OffExchangeActivity OffExchangeMeta': 'OffExchangeActivityMeta',
  'Spot PlainMeta': 'SpotMeta',
};

/** The schema name of an operation's selection of a type: stable, and one per shape. */
export function schemaName(operation: string, type: string): string {
  return ofOperation[`${operation} ${type}`] ?? enumName(type);
}

export function enumName(type: string): string {
  return renamed[type] ?? type;
}

/** The name of the schema of an operation's whole answer. Operations with the same answer share it. */
export function responseName(operation: string): string {
  const [, what] = /^(?:Create|Replace|Patch)(Journal\w+)$/.exec(operation) ?? [];
  if (/^DeleteJournal/.test(operation)) return 'DeletedFromJournalResponse';
  if (operation === 'ScreenResult') return 'ScreenResponse';
  return `${what ?? operation}Response`;
}
