import { methodologyVersion } from '../../../core/analytics/methodology.ts';
import type { ChainCapture, ChainRow } from '../../../core/domain/chain/chain.ts';
import { greekNames } from '../../../core/domain/chain/chain-columns.ts';
import { capturePart } from '../../../core/domain/generation.ts';
import { roundTo } from '../../../core/domain/units.ts';
import { computedSessions, lockCaptures } from '../../../store/chain/session-captures.ts';
import { publishedFigures } from '../../../store/gex/published-figures.ts';
import { readRoots } from '../../../store/market/option-roots.ts';
import type { Store } from '../../../store/rows/connection.ts';
import type { Transaction } from '../../../store/rows/transaction.ts';
import { writeRegrouped } from '../chains/regroup.ts';
import { sessionGroups } from '../chains/session-groups.ts';
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
 * Makes the captures of a session again, in order of time, each with its former gammas, rate and, unless another is
 * given, delay: those of files that make other groups first. Returns the number of different rows, and the moves.
 */
export async function recomputeChains(
  tx: Transaction,
  { underlying, session: sessionDate }: UnderlyingSession,
  { rate, delayMs, check }: Pick<RecomputeWork, 'rate' | 'delayMs' | 'check'>,
): Promise<RecomputedWork> {
  await lockCaptures(tx, underlying);
  const before = await publishedFigures(tx, underlying, sessionDate);
  const roots = await readRoots(tx);
  const settings = { roots, rate, delayMs, source: sourceChain, given: { rate, gammaSource: 'solve' as const } };
  const groups = await sessionGroups(tx, { underlying, sessionDate }, settings);
  const regrouped = await groups.regrouped(null, []);
  // Two groups of one instant cannot both be stored: neither is made.
  const change = regrouped.doubled === null ? regrouped : { changed: [], gone: [] };
  const { written } = await writeRegrouped(tx, groups, change, { ...settings, all: true, check });
  const moves = new MoveCounter();
  let changed = 0;
  const parts: RecomputedWork['parts'] = [];
  for (const [capturedAt, each] of written) {
    changed += each.changed;
    if (each.changed > 0) parts.push(capturePart({ underlying, sessionDate, capturedAt }));
    moves.add(each.chain, before.get(capturedAt) ?? null, each.gex);
  }
  return { changed: changed + change.gone.length, moved: moves.moved(), parts };
}
