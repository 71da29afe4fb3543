import type { BrowserContext, Page } from 'playwright-core';

interface Shifts {
  total: number;
  /** Moved elements, each as `element x,y→x,y`. */
  moved: string[];
}

/** Sums up what moves in the pages that a context opens from now on, as browsers count it (cumulative layout shift). */
export async function watchLayout(context: BrowserContext): Promise<void> {
  await context.addInitScript(() => {
    interface Shift extends PerformanceEntry {
      value: number;
      sources: { node: Element | null; previousRect: DOMRectReadOnly; currentRect: DOMRectReadOnly }[];
    }
    const shifts: Shifts = { total: 0, moved: [] };
    (window as unknown as { shifts: Shifts }).shifts = shifts;
    const at = ({ x, y }: DOMRectReadOnly) => `${Math.round(x)},${Math.round(y)}`;
    new PerformanceObserver((list) => {
      for (const { value, sources } of list.getEntries() as Shift[]) {
        shifts.total += value;
        for (const { node, previousRect, currentRect } of sources)
          shifts.moved.push(`${node?.className || node?.id || node?.nodeName} ${at(previousRect)}→${at(currentRect)}`);
      }
    }).observe({ type: 'layout-shift', buffered: true });
  });
}

/** Layout shift of a page since it was opened (0 = none; browsers rate up to 0.1 as good), with the moved elements. */
export const layoutShifts = (page: Page): Promise<Shifts> =>
  page.evaluate(() => (window as unknown as { shifts: Shifts }).shifts);
