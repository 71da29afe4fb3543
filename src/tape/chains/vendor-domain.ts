/** Numbers that a source says of a contract; NaN = it does not say. */
export interface QuoteNumbers {
  last: number;
  bid: number;
  ask: number;
  volume: number;
  iv: number;
  delta: number;
  gamma: number;
  openInterest: number;
  theta: number;
  vega: number;
  fmv: number;
}

/** Dollars a share above which nothing is a price: some sources write the largest double where they have none. */
const highestPrice = 1e6;
/** Gammas, thetas and vegas above this are none: exposures summed from them would have no end. */
const largestGreek = 1e9;
/** More contracts than any option has open or trades in a day; a hundred of them are summed within 32 bits. */
export const mostContracts = 20_000_000;

const price = (value: number) => (value >= 0 && value <= highestPrice ? value : Number.NaN);
const count = (value: number) => (Number.isInteger(value) && value >= 0 && value <= mostContracts ? value : Number.NaN);

/**
 * The one check of what sources write: a number outside its domain is unknown (methodology 2). Prices are from 0,
 * volatilities above 0 and at most 10, deltas within ±1, gammas and vegas from 0, no greek beyond 1e9, contracts are
 * counted. A greek that equals one outside its domain is the source's way to write none, such as a delta of −1 beside a
 * gamma of −1.
 */
export function withinDomain(numbers: QuoteNumbers): QuoteNumbers {
  const { iv, delta, gamma, theta, vega } = numbers;
  const outside: number[] = [];
  if (iv < 0 || iv > 10) outside.push(iv);
  if (Math.abs(delta) > 1) outside.push(delta);
  if (gamma < 0 || gamma > largestGreek) outside.push(gamma);
  if (vega < 0 || vega > largestGreek) outside.push(vega);
  if (Math.abs(theta) > largestGreek) outside.push(theta);
  const greek = (value: number) => (outside.length > 0 && outside.includes(value) ? Number.NaN : value);
  return {
    last: price(numbers.last),
    bid: price(numbers.bid),
    ask: price(numbers.ask),
    fmv: price(numbers.fmv),
    volume: count(numbers.volume),
    openInterest: count(numbers.openInterest),
    iv: iv === 0 ? Number.NaN : greek(iv),
    delta: greek(delta),
    gamma: greek(gamma),
    theta: greek(theta),
    vega: greek(vega),
  };
}
