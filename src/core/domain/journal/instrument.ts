import {
  contractId,
  type OptionContract,
  readOptionContract,
  readOptionContractText,
} from '../chain/option-contract.ts';
import { readTicker } from '../market/ticker.ts';

/** A ticker, or the id of a contract (`O:` and its OSI symbol), in either case; null for any other text. */
export function readInstrument(text: string): string | null {
  if (!/^o:/i.test(text)) return readTicker(text);
  const contract = readOptionContractText(text);
  return contract && contractId(contract);
}

/** The contract of an instrument; null for a ticker. */
export function contractIn(instrument: string): OptionContract | null {
  return instrument.startsWith('O:') ? readOptionContract(instrument) : null;
}
