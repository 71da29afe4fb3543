// Which panels are in sight.
import { type Part, parts } from './data/part-names.ts';

const isInSight = (panel: Element) => {
  const { top, bottom } = panel.getBoundingClientRect();
  return bottom > 0 && top < innerHeight;
};

/** The parts that have a panel in sight. */
export function partsInSight(): Part[] {
  const panels = [...document.querySelectorAll<HTMLElement>('[data-part]')];
  return parts.filter((part) => panels.some((panel) => panel.dataset.part === part && isInSight(panel)));
}

/** Says whenever an element comes into sight or leaves it; returns what ends that. */
export function whileInSight(element: Element, say: (inSight: boolean) => void): () => void {
  const observer = new IntersectionObserver((entries) => say(entries.at(-1)!.isIntersecting));
  observer.observe(element);
  return () => observer.disconnect();
}

/** Calls `see` whenever the panel comes into sight; returns what ends that. */
export const whenInSight = (panel: Element, see: () => void) => whileInSight(panel, (inSight) => inSight && see());
