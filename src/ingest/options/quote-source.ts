import type { ContractBook, TradedContract } from '../../domain/chain/contract-book.ts';
import { contractId, readOptionContract } from '../../domain/chain/option-contract.ts';
import type { SessionDate } from '../../domain/market-time.ts';
import type { OptionQuote } from '../../domain/print.ts';
import { holdOptionQuotes, readQuotes } from '../../store/chain/option-quotes.ts';
import type { QuoteColumns } from '../../store/chain/quote-block.ts';
import type { Transaction } from '../../store/engine/transaction.ts';
import type { OnBadLine } from '../../tape/csv/tape-file.ts';
import { readOptionQuotes } from '../../tape/prints/option-quotes.ts';

/** Which quotes a tape asks for: of the contracts that traded, in the sessions it spans. */
export interface TapeSpan {
  contracts: readonly TradedContract[];
  from: SessionDate;
  to: SessionDate;
}

/**
 * Where a tape's quotes come from. A source may give more sessions than asked for, and gives the quotes in any order,
 * in batches; an object may be filled again for the next quote.
 */
export type QuoteSource = (span: TapeSpan) => AsyncIterable<Iterable<OptionQuote>>;

// Stands for every contract that did not trade: quotes name a hundred times as many as prints do.
const untraded: TradedContract = {
  index: -1,
  id: '',
  contract: { root: '', expiry: '', right: 'call', strike: 0 },
  underlying: { index: -1, symbol: '' },
  multiplier: 0,
};

/** A book that finds what traded and has one stand-in for the rest. */
function tradedOnly(contracts: readonly TradedContract[]): ContractBook {
  const traded = new Map(contracts.map((contract) => [contract.id, contract]));
  return {
    find(text) {
      const contract = readOptionContract(text);
      return contract === null ? null : (traded.get(contractId(contract)) ?? untraded);
    },
    underlyings: () => [],
  };
}

function* tradedOf(batch: readonly OptionQuote[]): Generator<OptionQuote> {
  for (const quote of batch) if (quote.contract !== untraded) yield quote;
}

/** Quotes of vendor files; `onBatch` is called for each piece read, and may throw to stop. */
function fileQuotes(paths: readonly string[], onBadLine: OnBadLine, onBatch: () => void): QuoteSource {
  return async function* ({ contracts }) {
    const book = tradedOnly(contracts);
    for (const path of paths)
      for await (const batch of readOptionQuotes(path, { book, onBadLine, onBytes: onBatch })) yield tradedOf(batch);
  };
}

/** The quotes that are stored (`ingest option-quotes`), which stay as they are until the transaction ends. */
function storedQuotes(tx: Transaction, onBatch: () => void): QuoteSource {
  return async function* (span) {
    await holdOptionQuotes(tx);
    const traded = new Map(span.contracts.map((contract) => [contract.id, contract]));
    for await (const { contract, quotes } of readQuotes(tx, span)) {
      onBatch();
      yield quotesOf(traded.get(contract)!, quotes);
    }
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
export function quotesOfTape(
  tx: Transaction,
  { quoteFiles, onBadLine, onBatch }: { quoteFiles: readonly string[]; onBadLine: OnBadLine; onBatch: () => void },
): QuoteSource {
  return quoteFiles.length > 0 ? fileQuotes(quoteFiles, onBadLine, onBatch) : storedQuotes(tx, onBatch);
}
