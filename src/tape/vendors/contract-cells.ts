import { contractId, type OptionContract } from '../../domain/chain/option-contract.ts';
import { isDate } from '../../domain/market-time.ts';

/** Words for a contract as a vendor writes them in cells of their own. */
export interface ContractCells {
  root: string;
  /** `YYYY-MM-DD` or `YYYYMMDD`. */
  expiry: string;
  /** Thousandths of a dollar. */
  strike: number;
  /** `C`, `CALL`, `P` or `PUT`, in either case. */
  right: string;
}

const largestStrike = 99_999_999;

/** The contract of such cells; null if one of them is invalid. */
export function contractOfCells({ root, expiry, strike, right }: ContractCells): OptionContract | null {
  const date = expiry.replace(/^(\d{4})(\d{2})(\d{2})$/, '$1-$2-$3');
  const side = /^(?:(c|call)|p|put)$/i.exec(right);
  const isStrike = Number.isInteger(strike) && strike > 0 && strike <= largestStrike;
  if (!/^[A-Z0-9]{1,6}$/.test(root) || !isDate(date) || !isStrike || !side) return null;
  return { root, expiry: date, right: side[1] ? 'call' : 'put', strike };
}

/** `O:` and the OSI symbol of such cells; the cells themselves if there is none, for the check of the column. */
export function tickerOfCells(cells: ContractCells): string {
  const contract = contractOfCells(cells);
  return contract ? contractId(contract) : `${cells.root} ${cells.expiry} ${cells.right} ${cells.strike}`;
}
