import { allModels, type Model, tableOf } from './rows/models/model-tables.ts';
import { modelSubjects } from './versions/subjects.ts';

// Models that are read only to compute others, or describe a symbol's session, have no subject.
const others: Partial<Record<Model, string>> = {
  OptionQuoteBlock: 'underlying',
  SessionSeal: 'symbol',
  TapeSession: 'symbol',
  TapeRemainder: 'symbol',
};

const fieldOf = (model: Model) => modelSubjects[model]?.symbol ?? others[model] ?? null;

/** The models whose rows are market data of a symbol. */
export const symbolModels = (Object.keys(modelSubjects) as Model[]).filter((model) => fieldOf(model) !== null);

/** The symbol column of a model. */
export function symbolColumn(model: Model): string {
  return tableOf(model).fields.find(({ field }) => field === fieldOf(model))!.column;
}

/** Models of accounts, of the registry, and of the store itself. */
const besideMarket: ReadonlySet<Model> = new Set<Model>([
  'Symbol',
  'SymbolCommit',
  'Account',
  'ApiKey',
  'StreamTicket',
  'UsageCount',
  'Watchlist',
  'SavedScreen',
  'JournalAccount',
  'JournalTrade',
  'JournalImport',
  'JournalSize',
  'IngestedFile',
  'FollowedLines',
  // When writes began and ended, those of the registry among them.
  'GenerationRun',
  'SessionOrigin',
  'MetadataEntry',
]);

/** The models of market data: their rows are all the sample market's, or all the operator's. */
export const marketModels = allModels.filter((model) => !besideMarket.has(model));
