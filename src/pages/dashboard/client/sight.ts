// Which panels are in sight.
import { type Part, parts } from './data/parts.ts';

const isInSight = (panel: Element) => {
  const { top, bottom } = panel.getBoundingClientRect();
  return bottom > 0 && top < innerHeight;
};

/** The parts of which a panel is in sight. */
export function partsInSight(): Part[] {
  const panels = [...document.querySelectorAll<HTMLElement>('[data-part]')];
  return parts.filter((part) => panels.some((panel) => panel.dataset.part === part && isInSight(panel)));
}

/** Calls `see` whenever the panel comes into sight; returns what ends that. */
export function whenInSight(panel: Element, see: () => void): () => void {
  const observer = new IntersectionObserver((entries) => {
    if (entries.some(({ isIntersecting }) => isIntersecting)) see();
  });
  observer.observe(panel);
  return () => observer.disconnect();
}
