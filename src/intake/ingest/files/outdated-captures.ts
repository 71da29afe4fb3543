import { methodologyVersion } from '../../../core/analytics/methodology.ts';
import { billWithout } from '../../../core/domain/market/rates.ts';
import { type ComputedSession, computedSessions } from '../../../store/chain/session-captures.ts';
import { readDividends } from '../../../store/market/dividends.ts';
import { readRoots } from '../../../store/market/option-roots.ts';
import { readCurve } from '../../../store/market/rates.ts';
import { sealedSessions } from '../../../store/market/session-seals.ts';
import type { Reader } from '../../../store/rows/reader.ts';
import type { Transaction } from '../../../store/rows/transaction.ts';
import { referenceVersion } from './lists/reference-version.ts';
import type { OutdatedCaptures } from './tape-report.ts';

/** A function that is called once per key. */
function once<T>(read: (key: string) => Promise<T>): (key: string) => Promise<T> {
  const found = new Map<string, Promise<T>>();
  return (key) => {
    const known = found.get(key) ?? read(key);
    found.set(key, known);
    return known;
  };
}

/** The captures that were computed with terms, rates or dividends other than the stored ones, or with unknown ones. */
export async function withOtherInputs(
  from: Pick<Reader, 'prisma'>,
  computed: readonly ComputedSession[],
): Promise<ComputedSession[]> {
  if (computed.length === 0) return [];
  const roots = await readRoots(from);
  const curve = once((session) => readCurve(from, session));
  const dividends = once((symbol) => readDividends(from, symbol));
  const other: ComputedSession[] = [];
  for (const one of computed) {
    const { underlying, session: sessionDate, referenceVersion: version } = one;
    const points = await curve(sessionDate);
    const bill = billWithout(points, sessionDate);
    const reference = { rate: 0, curve: points, bill, dividends: await dividends(underlying) };
    if (version !== referenceVersion({ roots: one.roots, sessionDate }, reference, roots)) other.push(one);
  }
  return other;
}

/**
 * The stored captures that were computed with inputs other than the stored ones, by symbol; of all symbols for null.
 */
export async function outdatedCaptures(
  tx: Transaction,
  symbols: ReadonlySet<string> | null,
): Promise<OutdatedCaptures[]> {
  const computed = await computedSessions(tx, { methodologyVersion, delayMs: null, all: false });
  const asked = computed.filter(({ underlying }) => symbols?.has(underlying) ?? true);
  const bySymbol = Map.groupBy(await withOtherInputs(tx, asked), ({ underlying }) => underlying);
  const spans = [...bySymbol].map(([symbol, all]) => ({ symbol, from: all[0]!.session, to: all.at(-1)!.session }));
  const sealed = new Set(
    (await sealedSessions(tx, spans)).map(({ symbol, sessionDate }) => `${symbol} ${sessionDate}`),
  );
  const sum = (all: readonly ComputedSession[]) => all.reduce((count, { captures }) => count + captures, 0);
  return spans
    .map((span): OutdatedCaptures => {
      const all = bySymbol.get(span.symbol)!;
      const inSealed = all.filter(({ underlying, session }) => sealed.has(`${underlying} ${session}`));
      const command = `tapegraph recompute chain --symbol ${span.symbol}`;
      return { symbol: span.symbol, captures: sum(all), sealed: sum(inSealed), from: span.from, to: span.to, command };
    })
    .sort((a, b) => (a.symbol < b.symbol ? -1 : 1));
}
