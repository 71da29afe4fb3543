// The line below the figures of a capture whose price and quotes are not of one instant, or whose expected moves
// contradict each other.
import { html } from 'htm/preact';
import type { VNode } from 'preact';
import type { GexCapture } from '../../../../../generated/pages/operation-types.ts';
import { price } from '../format.ts';

type Checked = Pick<GexCapture, 'spot' | 'impliedSpot' | 'spotStale' | 'inconsistentExpiries'>;

/** Warning about the prices of a capture's figures; null if there is none. */
export function spotNote({ spot, impliedSpot, spotStale, inconsistentExpiries }: Checked): string | null {
  const notes: string[] = [];
  if (spotStale)
    notes.push(
      `The spot price ${price(spot)} and the option quotes are of different times. Options are priced at ${price(impliedSpot)}, the spot that the quotes imply.`,
    );
  if (inconsistentExpiries)
    notes.push(
      `In ${inconsistentExpiries} ${inconsistentExpiries === 1 ? 'expiry' : 'expiries'}, straddle and implied volatility disagree on the expected move.`,
    );
  return notes.length === 0 ? null : notes.join(' ');
}

/** The line; empty if spot and quotes agree. It is present before the capture, so that nothing moves. */
export function SpotNote({ capture }: { capture: Checked | null }): VNode {
  return html`<p class="small" id="spot-note">${capture && spotNote(capture)}</p>` as VNode;
}
