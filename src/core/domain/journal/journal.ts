/** A new account of a journal, at which trades are made. */
export interface NewAccount {
  /** Null = generated. */
  id: string | null;
  name: string;
  /** Null = not given. */
  broker: string | null;
}

/** An account of a journal. */
export type JournalAccount = NewAccount & { id: string };

/** A new trade of a journal. */
export interface NewTrade {
  /** Null = generated. */
  id: string | null;
  /** Id of the journal account. */
  journalAccountId: string;
  /** Ticker, or id of a contract. */
  symbol: string;
  /** `buy`, `sell`, or any other text. */
  side: string;
  qty: number;
  /** Dollars. */
  price: number;
  /** Epoch ms. */
  tsMs: number;
  note: string | null;
}

/** A trade of a journal. */
export type JournalTrade = NewTrade & { id: string };

/** Reason for which a row of an import is invalid. */
export interface RowError {
  /** 1-based line on which the row starts. */
  row: number;
  /** `missing_<field>`, `bad_<field>`, `bad_json` or `bad_columns`. */
  code: string;
}

/** Result of an import (spec 2.18). */
export interface ImportResult {
  created: number;
  /** Number of trades skipped because their id is already in the journal or in an earlier row. */
  skipped: number;
  /** In order of rows, the first 100. */
  errors: RowError[];
  /** Number of rows that were not imported and are not in `errors`. */
  errorsOmitted: number;
}
