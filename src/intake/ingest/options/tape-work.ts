import { type ContractBook, sessionEnds, type TradedContract } from '../../../core/domain/chain/contract-book.ts';
import { contractId, readOptionContract } from '../../../core/domain/chain/option-contract.ts';
import type { InstantBounds } from '../../../core/domain/instant-gate.ts';
import type { ByteHeader } from '../../tape/csv/byte-csv.ts';
import type { OptionQuoteColumn } from '../../tape/prints/option-quotes.ts';
import {
  type PieceReader,
  quotePieceReader,
  type RecordPiece,
  tradePieceReader,
} from '../../tape/prints/option-records.ts';
import type { OptionTradeColumn } from '../../tape/prints/option-trades.ts';
import { type MadeSession, makeSession, type SessionWork, type SolvedSession } from './option-session.ts';

/** The next stage: pieces of a file of trades, of quotes, or sessions. Plain data. */
export type TapeStage =
  | { kind: 'trades'; header: ByteHeader<OptionTradeColumn>; bounds: InstantBounds }
  /** Contracts that traded, by the numbers for their quotes. */
  | {
      kind: 'quotes';
      header: ByteHeader<OptionQuoteColumn>;
      bounds: InstantBounds;
      contracts: readonly string[];
    }
  /** Lists of conditions by the numbers in the records. */
  | { kind: 'sessions'; conditions: readonly (readonly number[])[] };

/** The work on a tape that any thread can do, sequentially. */
export interface TapeWork {
  begin(stage: TapeStage): void;
  /** Reads the lines of a piece of the file into records. */
  read(bytes: Buffer, into: Uint32Array): RecordPiece;
  make(work: SessionWork, solved: SolvedSession | null): Promise<MadeSession>;
}

const standIn = (index: number, id: string, endMs = Number.POSITIVE_INFINITY): TradedContract => ({
  index,
  id,
  contract: { root: '', expiry: '', right: 'call', strike: 0 },
  underlying: { index: -1, symbol: '' },
  multiplier: 0,
  endMs,
});

/**
 * Finds contracts that traded, by number. All others, which are many times as many in quotes, share one placeholder
 * with a negative number.
 */
function tradedOnly(contracts: readonly string[]): ContractBook['find'] {
  const endOf = sessionEnds();
  const traded = new Map(contracts.map((id, index) => [id, standIn(index, id, endOf(readOptionContract(id)!.expiry))]));
  const untraded = standIn(-1, '');
  return (text) => {
    const contract = readOptionContract(text);
    return contract === null ? null : (traded.get(contractId(contract)) ?? untraded);
  };
}

/** Creates a thread's part of the work. */
export function createTapeWork(): TapeWork {
  let reader: PieceReader | null = null;
  let conditions: readonly (readonly number[])[] = [];
  return {
    begin(stage) {
      reader = null;
      if (stage.kind === 'trades') reader = tradePieceReader(stage.header, stage.bounds);
      else if (stage.kind === 'quotes')
        reader = quotePieceReader(stage.header, stage.bounds, tradedOnly(stage.contracts));
      else conditions = stage.conditions;
    },
    read: (bytes, into) => reader!(bytes, into),
    make: (work, solved) => makeSession(work, conditions, solved),
  };
}
