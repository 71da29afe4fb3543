// The line under the figures of a capture whose price and quotes are not of one instant, or whose quotes contradict
// each other.
import { html } from 'htm/preact';
import type { VNode } from 'preact';
import type { GexCapture } from '../data/operation-types.ts';
import { price } from '../format.ts';

type Checked = Pick<GexCapture, 'spot' | 'impliedSpot' | 'spotStale' | 'inconsistentExpiries'>;

/** What a reader of a capture's figures must know of its prices; null if there is nothing. */
export function spotNote({ spot, impliedSpot, spotStale, inconsistentExpiries }: Checked): string | null {
  const notes: string[] = [];
  if (spotStale)
    notes.push(
      `The price ${price(spot)} is not of the time of the quotes: options are priced at ${price(impliedSpot)}.`,
    );
  if (inconsistentExpiries)
    notes.push(
      `Quotes of ${inconsistentExpiries} ${inconsistentExpiries === 1 ? 'expiry' : 'expiries'} contradict each other.`,
    );
  return notes.length === 0 ? null : notes.join(' ');
}

/** The line; without text where spot and quotes agree. It is there before the capture is, so that nothing moves. */
export function SpotNote({ capture }: { capture: Checked | null }): VNode {
  return html`<p class="small" id="spot-note">${capture && spotNote(capture)}</p>` as VNode;
}
