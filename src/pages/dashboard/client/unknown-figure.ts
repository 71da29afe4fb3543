// A dash in place of an unknown figure.
import { html } from 'htm/preact';
import type { VNode } from 'preact';
import { unknown } from './format.ts';

/** A dash that says why the figure is unknown: to a pointer that rests on it, and to a tap, Enter or Space. */
export function UnknownFigure({ id, why }: { id: string; why: string }): VNode {
  return html`<button type="button" class="unknown" popovertarget=${id} title=${why} aria-label=${`Unknown: ${why}`}>${unknown}</button>
    <span id=${id} class="why" popover="auto">${why}</span>` as VNode;
}
