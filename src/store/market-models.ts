import { type Model, tableOf } from './rows/models/model-tables.ts';
import { modelSubjects } from './versions/subjects.ts';

// Those that are read only to compute others, or say something of a symbol's session, have no subject.
const others: Partial<Record<Model, string>> = {
  OptionQuoteBlock: 'underlying',
  SessionSeal: 'symbol',
  TapeSession: 'symbol',
  TapeRemainder: 'symbol',
};

const fieldOf = (model: Model) => modelSubjects[model]?.symbol ?? others[model] ?? null;

/** The models whose rows are market data of a symbol. */
export const marketModels = (Object.keys(modelSubjects) as Model[]).filter((model) => fieldOf(model) !== null);

/** The column of the symbol that a model's rows are of. */
export function symbolColumn(model: Model): string {
  return tableOf(model).fields.find(({ field }) => field === fieldOf(model))!.column;
}
