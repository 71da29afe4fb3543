// A dash in place of an unknown figure.
import { html } from 'htm/preact';
import type { VNode } from 'preact';
import { unknown } from './format.ts';

/**
 * A figure, or a dash that says why it is unknown: to a pointer that rests on it, and to a tap, Enter or Space. `id` =
 * its own in the page.
 */
export function figureOrWhy(text: string, id: string, why: string): string | VNode {
  if (text !== unknown) return text;
  return html`<button type="button" class="unknown" popovertarget=${id} title=${why} aria-label=${`Unknown: ${why}`}>${unknown}</button>
    <span id=${id} class="why" popover="auto">${why}</span>` as VNode;
}
