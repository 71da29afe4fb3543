import type { TradedContract } from '../../domain/chain/contract-book.ts';
import type { OptionQuote } from '../../domain/market/print.ts';
import type { SessionDate } from '../../domain/market-time.ts';
import { holdOptionQuotes, readQuotes } from '../../store/chain/option-quotes.ts';
import type { QuoteColumns } from '../../store/chain/quote-block.ts';
import type { Transaction } from '../../store/rows/transaction.ts';

/** Which quotes a tape asks for: of the contracts that traded, in the sessions it spans. */
export interface TapeSpan {
  contracts: readonly TradedContract[];
  from: SessionDate;
  to: SessionDate;
}

/**
 * Where a tape's quotes come from: vendor files, or what is stored. The latter may give more sessions than asked for,
 * and gives the quotes in any order, in batches; an object may be filled again for the next quote.
 */
export type QuoteSource =
  | { files: readonly string[] }
  | { stored: (span: TapeSpan) => AsyncIterable<Iterable<OptionQuote>> };

/** The quotes that are stored (`ingest option-quotes`), which stay as they are until the transaction ends. */
function storedQuotes(tx: Transaction) {
  return async function* (span: TapeSpan): AsyncGenerator<Iterable<OptionQuote>> {
    await holdOptionQuotes(tx);
    const traded = new Map(span.contracts.map((contract) => [contract.id, contract]));
    for await (const { contract, quotes } of readQuotes(tx, span)) yield quotesOf(traded.get(contract)!, quotes);
  };
}

/** One object, filled for each quote. */
function* quotesOf(contract: TradedContract, columns: QuoteColumns): Generator<OptionQuote> {
  const { tsMs, tsNanos, bid, ask } = columns;
  const quote: OptionQuote = { contract, bid: 0, ask: 0, tsMs: 0, tsNanos: 0, sequence: 0 };
  for (let i = 0; i < tsMs.length; i++) {
    quote.tsMs = tsMs[i]!;
    quote.tsNanos = tsNanos[i]!;
    quote.bid = bid[i]!;
    quote.ask = ask[i]!;
    yield quote;
  }
}

/** The quotes a tape is read with: those of the files when there are any, else those that are stored. */
export function quotesOfTape(tx: Transaction, quoteFiles: readonly string[]): QuoteSource {
  return quoteFiles.length > 0 ? { files: quoteFiles } : { stored: storedQuotes(tx) };
}
