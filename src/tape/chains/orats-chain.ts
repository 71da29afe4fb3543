import { knownRoots } from '../../domain/chain/known-roots.ts';
import { oratsStrikes } from '../formats/orats.ts';
import { jsonTexts, parseExact } from '../text/json-values.ts';
import { stampedMs } from '../text/written-times.ts';
import { tickerOfCells } from '../vendors/contract-cells.ts';
import { VendorError } from '../vendors/row-format.ts';
import type { ChainPart, VendorChain } from './vendor-chain.ts';

/** A value of a row by its name; undefined if absent. */
type ValueOf = (name: string) => unknown;

const text = (value: unknown) => (value === undefined || value === null ? '' : String(value));

/**
 * The root of a row: the vendor has tickers. Those of an index with several roots, such as SPX and SPXW, differ in
 * their settlement, which `expiryTod` has. Null if it does not tell them apart.
 */
function rootOf(value: ValueOf): string | null {
  const ticker = text(value('ticker'));
  const roots = knownRoots.filter(({ underlying }) => underlying === ticker);
  if (roots.length === 0) return ticker.replaceAll(/[^A-Z0-9]/g, '');
  const settled = roots.length === 1 ? roots : roots.filter(({ settlement }) => settlement === value('expiryTod'));
  return settled.length === 1 ? settled[0]!.root : null;
}

/** The delta of the put beside a call: one less. */
function putDelta(delta: unknown): number | undefined {
  const call = text(delta) === '' ? Number.NaN : Number(delta);
  return Number.isNaN(call) ? undefined : Number((call - 1).toFixed(12));
}

/** The call and the put of a row, or the reason why it is invalid. Greeks of a row are the call's. */
export function oratsParts(value: ValueOf): readonly ChainPart[] | string {
  const root = rootOf(value);
  if (root === null) return `expiryTod: expected am or pm of a root of ${text(value('ticker'))}`;
  const strike = Math.round(Number(text(value('strike')) || Number.NaN) * 1000);
  const tsMs = stampedMs(text(value('quoteDate')));
  const [gamma, vega] = [value('gamma'), value('vega')];
  const shared = { times: [tsMs], spot: { price: value('spotPrice') || value('stockPrice'), tsMs } };
  const sides = [
    ['call', { delta: value('delta'), theta: value('theta'), gamma, vega }],
    ['put', { delta: putDelta(value('delta')), gamma, vega }],
  ] as const;
  return sides.map(([right, greeks]) => ({
    contract: tickerOfCells({ root, expiry: text(value('expirDate')), strike, right }),
    numbers: {
      ...{ bid: value(`${right}BidPrice`), ask: value(`${right}AskPrice`), fmv: value(`${right}Value`) },
      ...{ iv: value(`${right}MidIv`), volume: value(`${right}Volume`), openInterest: value(`${right}OpenInterest`) },
      ...greeks,
    },
    ...shared,
  }));
}

/** Strikes of ORATS as JSON. */
export const oratsJsonChain: VendorChain = {
  format: oratsStrikes,
  isJson: true,
  async *parts(texts) {
    let line = 0;
    for await (const page of jsonTexts(texts)) {
      const { data } = parseExact(page) as { data?: unknown };
      if (!Array.isArray(data)) throw new VendorError('data: expected a list of strikes');
      for (const row of data) {
        const isRow = typeof row === 'object' && row !== null;
        yield { line: ++line, found: isRow ? oratsParts((name) => row[name]) : 'expected an object' };
      }
    }
  },
};
