// Visibility of panels in the viewport.
import { type Part, parts } from './data/part-names.ts';

const isInSight = (panel: Element) => {
  const { top, bottom } = panel.getBoundingClientRect();
  return bottom > 0 && top < innerHeight;
};

/** The parts with a panel in the viewport. */
export function partsInSight(): Part[] {
  const panels = [...document.querySelectorAll<HTMLElement>('[data-part]')];
  return parts.filter((part) => panels.some((panel) => panel.dataset.part === part && isInSight(panel)));
}

/** Calls `say` whenever an element enters or leaves the viewport. Returns the function that stops this. */
export function whileInSight(element: Element, say: (inSight: boolean) => void): () => void {
  const observer = new IntersectionObserver((entries) => say(entries.at(-1)!.isIntersecting));
  observer.observe(element);
  return () => observer.disconnect();
}

/** Calls `see` whenever the panel enters the viewport. Returns the function that stops this. */
export const whenInSight = (panel: Element, see: () => void) => whileInSight(panel, (inSight) => inSight && see());
