import { requireReadable } from '../../access/entitlement/entitlement.ts';
import type { CrossSection, FlowMeasures } from '../../core/domain/flow/flow.ts';
import { oncePerRequest } from '../../platform/runtime/once-per-request.ts';
import { storedCapture } from '../captures-at.ts';
import { findSymbol, type RequestContext } from '../context.ts';
import { type GexStrike, rowAtStrike, servedCaptures } from '../gex/gex.ts';
import { crossSection } from './cross-section.ts';

/** A strike of a cross-section, with its snapshot. */
export type StrikeFlow = CrossSection['byStrike'][number] & { section: CrossSection };

/** The strikes of a snapshot. */
export function strikesOf(section: CrossSection): StrikeFlow[] {
  return section.byStrike.map((row) => ({ ...row, section }));
}

/**
 * Trading at a row's strike so far in the session of its capture, over all expirations; null if nothing was observed
 * there.
 */
export async function flowAtStrike(
  context: RequestContext,
  { strike, capture }: GexStrike,
): Promise<FlowMeasures | null> {
  const { underlying, sessionDate } = capture;
  const byStrike = await oncePerRequest(
    context,
    `flow by strike ${underlying} ${sessionDate} ${context.nowMs}`,
    async () => {
      const { snapshot } = await crossSection(context, underlying, sessionDate);
      return new Map(snapshot?.byStrike.map((row) => [row.strikeThousandths, row.measures]));
    },
  );
  return byStrike.get(strike) ?? null;
}

/** Dealer gamma at a strike, net, in the last capture of the snapshot's session; null if there is none. */
export async function gexAtStrike(
  context: RequestContext,
  { strikeThousandths, section }: StrikeFlow,
): Promise<GexStrike | null> {
  const { symbol } = section;
  const { sessionDate } = section.coverage;
  const capture = await oncePerRequest(context, `gex by strike ${symbol} ${sessionDate} ${context.nowMs}`, async () => {
    requireReadable(context.caller, await findSymbol(context, symbol));
    const stored = await storedCapture(context, symbol, { sessionDate, byExpiry: false });
    return stored && servedCaptures([stored], false, null)[0]!;
  });
  return capture && rowAtStrike(capture, strikeThousandths);
}
