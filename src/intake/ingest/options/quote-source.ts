import type { TradedContract } from '../../../core/domain/chain/contract-book.ts';
import type { OptionQuote } from '../../../core/domain/market/print.ts';
import type { SessionDate } from '../../../core/domain/market-time.ts';
import { holdOptionQuotes, type QuoteColumns, readQuotes } from '../../../store/chain/option-quotes.ts';
import type { Transaction } from '../../../store/rows/transaction.ts';

/** Range of a tape's quotes: those of the contracts that traded, in its sessions. */
export interface TapeSpan {
  contracts: readonly TradedContract[];
  from: SessionDate;
  to: SessionDate;
}

/**
 * Source of a tape's quotes: vendor files, or the store. The latter may return more sessions than requested, and
 * returns the quotes in any order, in batches; an object may be reused for the next quote.
 */
export type QuoteSource =
  | { files: readonly string[] }
  | { stored: (span: TapeSpan) => AsyncIterable<Iterable<OptionQuote>> };

/** The stored quotes (`ingest option-quotes`), locked until the transaction ends. */
function storedQuotes(tx: Transaction) {
  return async function* (span: TapeSpan): AsyncGenerator<Iterable<OptionQuote>> {
    await holdOptionQuotes(tx);
    const traded = new Map(span.contracts.map((contract) => [contract.id, contract]));
    for await (const { contract, quotes } of readQuotes(tx, span)) yield quotesOf(traded.get(contract)!, quotes);
  };
}

/** One object, reused for each quote. */
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

/** The quotes for a tape: those of the files if there are any, else the stored ones. */
export function quotesOfTape(tx: Transaction, quoteFiles: readonly string[]): QuoteSource {
  return quoteFiles.length > 0 ? { files: quoteFiles } : { stored: storedQuotes(tx) };
}
