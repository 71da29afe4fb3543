import { fillPrevious, lacksSolves, type SolvedChain, solveChain } from '../../analytics/chain/solve-chain.ts';
import { computeGexCapture } from '../../analytics/gex/capture.ts';
import { methodologySettings } from '../../analytics/methodology.ts';
import type { ChainCapture, ChainRow } from '../../domain/chain/chain.ts';
import { contractId } from '../../domain/chain/option-contract.ts';
import type { GexCapture } from '../../domain/gex.ts';
import { chainCaptureAt, saveChainCapture } from '../../store/chain/chain-captures.ts';
import { solvedMinuteAt } from '../../store/chain/solved-minutes.ts';
import type { Transaction } from '../../store/engine/transaction.ts';
import { removeGexCapture, saveGexCapture } from '../../store/gex/captures.ts';
import { forgetFiles } from '../../store/market/ingested-files.ts';
import { refuseSealed } from '../../store/market/session-seals.ts';
import { readChain } from '../../tape/chains/chain-file.ts';
import type { IngestSettings, Loader } from '../files/file-job.ts';
import { saveUnderlyings } from '../files/option-underlyings.ts';

const greeks = ['iv', 'delta', 'gamma', 'theta', 'vega'] as const;

/**
 * A chain whose unknown greeks are filled from its solve. What the vendor says of a contract is served as the vendor says it; a figure of
 * ours stands only where there was none, as theta and vega in every delayed-quote table.
 */
export function withSolvedGreeks(chain: ChainCapture, solved: SolvedChain): ChainCapture {
  const rows = chain.rows.map((row, i): ChainRow => {
    const filled = { ...row };
    for (const name of greeks) {
      const value = solved[name][i]!;
      if (filled[name] === null && !Number.isNaN(value)) filled[name] = value;
    }
    return filled;
  });
  return { ...chain, rows };
}

/**
 * The volatilities of the session's last solves, by contract path form: those of the last solved minute, else, where the source gives no
 * greeks of a contract, the one stored with the chain before, which is then a solve, or one of before that chain.
 */
async function previousSolves(tx: Transaction, chain: ChainCapture): Promise<Map<string, number>> {
  const { underlying, capturedAt, sessionDate } = chain;
  const solves = new Map<string, number>();
  const before = await chainCaptureAt(tx, underlying, capturedAt - 1);
  if (before?.sessionDate === sessionDate) {
    const withGreeks = new Set(chain.rows.filter(({ gamma }) => gamma !== null).map(contractId));
    for (const row of before.rows) {
      const id = contractId(row);
      if (row.iv !== null && !withGreeks.has(id)) solves.set(id, row.iv);
    }
  }
  const minute = await solvedMinuteAt(tx, underlying, sessionDate, capturedAt);
  for (const [id, { iv }] of minute?.solves ?? []) if (iv !== null) solves.set(id, iv);
  return solves;
}

/** The chain as it is stored, and its GEX; null = none may be published (no spot, or too few gammas known). */
async function evaluateChain(
  tx: Transaction,
  chain: ChainCapture,
  { gammaSource, rate }: Pick<IngestSettings, 'gammaSource' | 'rate'>,
): Promise<{ chain: ChainCapture; gex: GexCapture | null }> {
  if (gammaSource === 'vendor') return { chain, gex: computeGexCapture(chain, { gammaSource, rate }) };
  const options = { rate, allGreeks: true };
  const solved = solveChain(chain, options);
  if (lacksSolves(solved)) fillPrevious(chain, solved, await previousSolves(tx, chain), options);
  return { chain: withSolvedGreeks(chain, solved), gex: computeGexCapture(chain, { gammaSource, rate, solved }) };
}

const millions = (dollars: number) => `${(dollars / 1e6).toFixed(1)}m`;

/** The two totals beside each other: small differences of large sums, and the vendor rounds its gammas. Null when there is only one. */
function totals(chain: ChainCapture, gex: GexCapture, rate: number): string | null {
  if (gex.gammaSource === 'vendor') return null;
  const vendor = computeGexCapture(chain, { gammaSource: 'vendor', rate });
  return (
    vendor &&
    `net GEX in dollars per $1: ${millions(gex.netGex)} solved, ${millions(vendor.netGex)} by the vendor's gammas`
  );
}

/** Why a chain has no GEX capture, for people. */
export function noGexNote(): string {
  const share = Math.round(100 * methodologySettings.minimumOiCoverage);
  return `no GEX capture: the price of the underlying is unknown, or gamma is known for less than ${share}% of open interest`;
}

/** What a chain's file is of: its underlying and instant. */
function chainPart({ underlying, capturedAt }: ChainCapture): string {
  return `${underlying} ${capturedAt}`;
}

/** Stores a chain and the GEX capture that follows from it, null when none may be published; `changed` = how many of the two are new or different. Throws `SessionSealed`. */
export async function storeChain(
  tx: Transaction,
  capture: ChainCapture,
  settings: Pick<IngestSettings, 'gammaSource' | 'rate'>,
): Promise<{ changed: number; gex: GexCapture | null }> {
  await refuseSealed(tx, [{ symbol: capture.underlying, sessionDate: capture.sessionDate }]);
  const { chain, gex } = await evaluateChain(tx, capture, settings);
  await saveUnderlyings(tx, new Set(chain.rows.map((row) => row.root)));
  const changed = Number(await saveChainCapture(tx, chain));
  const gexChanged = gex ? saveGexCapture(tx, gex) : removeGexCapture(tx, chain.underlying, chain.capturedAt);
  const allChanged = changed + Number(await gexChanged);
  if (allChanged > 0) await forgetFiles(tx, ['chain'], [chainPart(chain)]);
  return { changed: allChanged, gex };
}

/** A whole chain: its capture, and the GEX capture that follows from it. */
export const loadChain: Loader = async ({ path, tx, settings, onBadLine, onBytes, onNote, refused }) => {
  const { capture, halfLines } = await readChain(path, onBadLine, onBytes);
  for (const { line, reason } of halfLines) onNote(`line ${line}, one side kept: ${reason}`);
  const rows = capture.rows.length;
  if (refused()) return { rows, changed: 0 };
  const { changed, gex } = await storeChain(tx, capture, settings);
  const note = gex ? totals(capture, gex, settings.rate) : noGexNote();
  if (note !== null) onNote(note);
  return { rows, changed, parts: [chainPart(capture)] };
};
