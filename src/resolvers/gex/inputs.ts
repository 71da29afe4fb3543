import type { ExpiryInputs } from '../../core/domain/chain/capture-inputs.ts';
import { type Generation, wholeList } from '../../core/domain/generation.ts';
import { batched } from '../../platform/runtime/batched.ts';
import { gexInputsOf } from '../../store/gex/inputs.ts';
import { chainAt } from '../captures-at.ts';
import { fromSource, ofAllInstants, type RequestContext } from '../context.ts';
import { generationsOf, type ShownFile, seesNames } from '../provenance.ts';
import { type QuoteTime, quoteTimeOf } from '../quote-time.ts';
import { captureSource, flowSource, openInterestSource } from '../source-keys.ts';
import type { ServedGexCapture } from './gex.ts';

/** A file that a capture was computed from. */
export interface InputFile extends ShownFile {
  dataset: string;
  sha256: string;
}

/** Inputs of a capture. */
export interface GexInputs extends QuoteTime {
  methodologyVersion: string;
  productVersion: string;
  /** Empty when nothing of it was read from a file, or from one of which nothing was stored. */
  files: InputFile[];
  expiries: ExpiryInputs[];
}

/** Lists that captures are priced with. */
const lists = ['rates', 'roots'];

/** The last generation of each dataset that was in force at an instant; of rates that of the last date. */
function inForceAt(generations: readonly Generation[], atMs: number): Generation[] {
  const known = generations.filter(
    ({ ingestedMs, supersededMs }) => ingestedMs <= atMs && (supersededMs === null || supersededMs > atMs),
  );
  const last = (a: Generation, b: Generation) =>
    a.from === b.from ? a.ingestedMs - b.ingestedMs : a.from < b.from ? -1 : 1;
  return [...Map.groupBy(known, ({ dataset }) => dataset).values()].map((each) => each.sort(last).at(-1)!);
}

/**
 * The tape and quotes of a capture's session, if its quotes leave gaps that solves of before it fill: those of the
 * session's minutes come first.
 */
async function tapesOf(context: RequestContext, capture: ServedGexCapture): Promise<Generation[]> {
  const { underlying, capturedAt, sessionDate } = capture;
  const found = await generationsOf(context, flowSource(underlying, sessionDate));
  const tapes = found.filter(({ supersededMs }) => supersededMs === null);
  if (tapes.length === 0) return [];
  const chain = await chainAt(context, underlying, capturedAt);
  const isFilled = chain?.capturedAt === capturedAt && chain.rows.some(({ solved }) => solved?.origin === 'previous');
  return isFilled ? tapes : [];
}

/** The open interest of a capture's session, if its chain has it of a file of its own. */
async function interestOf(context: RequestContext, capture: ServedGexCapture): Promise<Generation[]> {
  const { underlying, capturedAt, sessionDate } = capture;
  const found = await generationsOf(context, openInterestSource(underlying, sessionDate));
  const interest = found.filter(({ supersededMs }) => supersededMs === null);
  if (interest.length === 0) return [];
  const chain = await chainAt(context, underlying, capturedAt);
  const isJoined = chain?.capturedAt === capturedAt && chain.rows.some(({ joinedInterest }) => joinedInterest);
  return isJoined ? interest : [];
}

/**
 * Files that a capture is from: those of its chain, of open interest, of solves that fill its gaps, and of the lists in
 * force then.
 */
async function filesOf(context: RequestContext, capture: ServedGexCapture): Promise<InputFile[]> {
  const [source] = captureSource(capture.underlying, capture);
  const chains = await generationsOf(context, source!);
  const chain = chains.find(({ supersededMs }) => supersededMs === null);
  if (!chain) return [];
  const { symbol, from } = wholeList;
  const key = { symbol, from, through: capture.sessionDate, datasets: lists, instantMs: null };
  const priced = inForceAt(await generationsOf(context, key), chain.ingestedMs);
  const used = [chain, ...(await interestOf(context, capture)), ...(await tapesOf(context, capture)), ...priced];
  return used.flatMap(({ dataset, files }) =>
    files.flatMap(({ sha256, ...file }) => (sha256 === null ? [] : [{ dataset, sha256, ...file }])),
  );
}

/** Stored inputs of a capture; null for one stored without them. */
export function storedInputs(
  context: RequestContext,
  { underlying, capturedAt }: Pick<ServedGexCapture, 'underlying' | 'capturedAt'>,
) {
  return batched(ofAllInstants(context), 'gex inputs', { underlying, capturedAt }, (captures) =>
    fromSource(context, 'chain', () => gexInputsOf(context.store, captures)),
  );
}

/** Inputs of a capture; null for one stored without them. */
export async function gexInputs(context: RequestContext, capture: ServedGexCapture): Promise<GexInputs | null> {
  const { methodologyVersion } = capture;
  const stored = await storedInputs(context, capture);
  if (stored === null) return null;
  const { file, productVersion, expiries } = stored;
  const noted = await filesOf(context, capture);
  // A chain of before generations were noted has its file alone.
  const files = noted.length === 0 && file ? [{ dataset: 'chain', ...file, lines: null }] : noted;
  const shown = files.map((each) => ({ ...each, name: seesNames(context) ? each.name : null }));
  return { ...quoteTimeOf(capture), methodologyVersion, productVersion, files: shown, expiries };
}
