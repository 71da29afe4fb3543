import { InvalidValue } from '../../../platform/runtime/invalid-value.ts';
import { isDate, type SessionDate } from '../market-time.ts';

export type OptionRight = 'call' | 'put';

/**
 * One option contract (spec 2.7). `root` is the OSI root, which is named `underlying` on the wire; its ticker is
 * `underlyingOf(root)`.
 */
export interface OptionContract {
  root: string;
  expiry: SessionDate;
  right: OptionRight;
  /** Integer thousandths of a dollar. */
  strike: number;
}

// Millions of lines repeat the same few hundred expiries: each is parsed once.
const expiries = new Map<string, SessionDate | null>();
const mostExpiries = 10_000;

function readExpiry(digits: string): SessionDate | null {
  const known = expiries.get(digits);
  if (known !== undefined) return known;
  const date = `20${digits.slice(0, 2)}-${digits.slice(2, 4)}-${digits.slice(4)}`;
  const expiry = isDate(date) ? date : null;
  if (expiries.size >= mostExpiries) expiries.clear();
  expiries.set(digits, expiry);
  return expiry;
}

const osiPattern = /^([A-Z0-9]{1,6})(\d{6})([CP])(\d{8})$/;

/**
 * Reads an OSI symbol, with or without the `O:` prefix and padding; parsed from the right, so that roots may end in
 * digits. Null for anything else: an impossible date, a zero strike, a root over six characters.
 */
export function readOptionContract(text: string): OptionContract | null {
  const match = osiPattern.exec(text.replace(/^O:/, '').replace(/ +/, ''));
  if (!match) return null;
  const [, root, digits, right, strike] = match as unknown as [string, string, string, string, string];
  const expiry = readExpiry(digits);
  if (expiry === null || Number(strike) === 0) return null;
  return { root, expiry, right: right === 'C' ? 'call' : 'put', strike: Number(strike) };
}

/**
 * Like `readOptionContract`, in either case of ASCII letters. Others, such as ſ and ı, would become ASCII ones in upper
 * case.
 */
export function readOptionContractText(text: string): OptionContract | null {
  return /^[\x20-\x7e]*$/.test(text) ? readOptionContract(text.toUpperCase()) : null;
}

/** Reads the contract path form of any case (`O:SPXW240105C04700000`), or throws `InvalidValue` naming `parameter`. */
export function parseOptionContract(text: string, parameter = 'contract'): OptionContract {
  const contract = /^o:/i.test(text) ? readOptionContractText(text) : null;
  if (!contract) {
    throw new InvalidValue(
      parameter,
      `expected O: and an OSI symbol such as O:SPY241220C00600000, got ${JSON.stringify(text.slice(0, 40))}`,
    );
  }
  return contract;
}

/** The OSI symbol without prefix: `SPXW240105C04700000`. */
export function osiSymbol({ root, expiry, right, strike }: OptionContract): string {
  const date = expiry.slice(2).replaceAll('-', '');
  return `${root}${date}${right === 'call' ? 'C' : 'P'}${String(strike).padStart(8, '0')}`;
}

/** The contract path form: `O:` and the OSI symbol. */
export function contractId(contract: OptionContract): string {
  return `O:${osiSymbol(contract)}`;
}

/** Orders contracts by expiry, strike, call before put, root. */
export function compareContracts(a: OptionContract, b: OptionContract): number {
  return (
    (a.expiry < b.expiry ? -1 : a.expiry > b.expiry ? 1 : 0) ||
    a.strike - b.strike ||
    (a.right === b.right ? 0 : a.right === 'call' ? -1 : 1) ||
    (a.root < b.root ? -1 : a.root > b.root ? 1 : 0)
  );
}
