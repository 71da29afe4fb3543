import { methodologyVersion } from '../../analytics/methodology.ts';
import type { ChainCapture, ChainRow } from '../../domain/chain/chain.ts';
import { greekNames } from '../../domain/chain/chain-columns.ts';
import { roundTo } from '../../domain/units.ts';
import { chainCaptureOf } from '../../store/chain/chain-captures.ts';
import { capturesAfter, computedSessions, lockCaptures } from '../../store/chain/session-captures.ts';
import { publishedLevels } from '../../store/gex/published-levels.ts';
import type { Store } from '../../store/rows/connection.ts';
import type { Transaction } from '../../store/rows/transaction.ts';
import { capturePart, withDelay } from '../chains/chain.ts';
import { settingsOf, writeChain } from '../chains/write-chain.ts';
import { withOtherInputs } from '../files/outdated-captures.ts';
import { MoveCounter } from './moved-captures.ts';
import type { RecomputedWork, RecomputeWork, UnderlyingSession } from './session-work.ts';

/** Maximum number of decimals of a source's greeks; solved ones have more. */
const sourceDecimals = 6;

const isOurs = (value: number | null) => value !== null && value !== roundTo(value, sourceDecimals);

/**
 * A row as its source wrote it, of a capture from before solved greeks were stored separately: they then filled the
 * source's gaps.
 */
function sourceRow(row: ChainRow): ChainRow {
  const source = { ...row };
  for (const name of greekNames) if (isOurs(row[name])) source[name] = null;
  // Deep in the money a solved delta of one without gamma has no more decimals either: its volatility was solved too.
  if (isOurs(row.iv) && row.gamma === 0 && Math.abs(row.delta ?? 0) === 1) [source.delta, source.gamma] = [null, null];
  return source;
}

/** A chain as its source wrote it. */
function sourceChain(chain: ChainCapture): ChainCapture {
  const isSeparate = chain.rate != null || chain.rows.some(({ solved }) => solved !== undefined);
  return isSeparate ? chain : { ...chain, rows: chain.rows.map(sourceRow) };
}

/**
 * Sessions with captures of an older version, with other inputs than the stored ones, or with another delay than the
 * given one; with `all`, any session with captures.
 */
export async function sessionsOfChains(
  store: Store,
  { delayMs, all }: Pick<RecomputeWork, 'delayMs' | 'all'>,
): Promise<UnderlyingSession[]> {
  const computed = await computedSessions(store.primary, { methodologyVersion, delayMs, all });
  const other = await withOtherInputs(
    store.primary,
    computed.filter(({ isWanted }) => !isWanted),
  );
  const wanted = new Set([...computed.filter(({ isWanted }) => isWanted), ...other]);
  const sessions = computed.filter((one) => wanted.has(one));
  return [
    ...new Map(
      sessions.map(({ underlying, session }) => [`${session} ${underlying}`, { underlying, session }]),
    ).values(),
  ];
}

/**
 * Solves the captures of a session again, in order of time, each with its former gammas, rate and, unless another is
 * given, delay. Returns the number of different rows, and the moves.
 */
export async function recomputeChains(
  tx: Transaction,
  { underlying, session }: UnderlyingSession,
  { rate, delayMs, check }: Pick<RecomputeWork, 'rate' | 'delayMs' | 'check'>,
): Promise<RecomputedWork> {
  await lockCaptures(tx, underlying);
  const before = await publishedLevels(tx, underlying, session);
  const moves = new MoveCounter();
  let changed = 0;
  const parts: RecomputedWork['parts'] = [];
  for (const stored of await capturesAfter(tx, underlying, session, Number.MIN_SAFE_INTEGER)) {
    check();
    const chain = withDelay((await chainCaptureOf(tx, underlying, stored.capturedAt))!, delayMs);
    const settings = settingsOf(chain, stored, rate);
    const source = settings.gammaSource === 'solve' ? sourceChain(chain) : chain;
    const written = await writeChain(tx, source, settings);
    changed += written.changed;
    if (written.changed > 0) parts.push(capturePart(chain));
    moves.add(before.get(stored.capturedAt) ?? null, written.gex);
  }
  return { changed, moved: moves.moved(), parts };
}
