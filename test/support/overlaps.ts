import type { Page } from 'playwright-core';

/**
 * Pairs of overlapping visible texts of a page. Text clipped by a scroll container counts as far as it is visible; a
 * sticky header covers scrolled rows and does not count.
 */
export const overlappingTexts = (page: Page): Promise<string[]> =>
  page.evaluate(() => {
    interface Box {
      text: string;
      left: number;
      top: number;
      right: number;
      bottom: number;
    }
    const isSticky = (element: Element | null): boolean =>
      element !== null && (getComputedStyle(element).position === 'sticky' || isSticky(element.parentElement));
    const clipped = (box: Box, from: Element | null): Box => {
      for (let element = from; element; element = element.parentElement) {
        if (getComputedStyle(element).overflow === 'visible') continue;
        const { left, top, right, bottom } = element.getBoundingClientRect();
        box.left = Math.max(box.left, left);
        box.top = Math.max(box.top, top);
        box.right = Math.min(box.right, right);
        box.bottom = Math.min(box.bottom, bottom);
      }
      return box;
    };
    const boxes: Box[] = [];
    const walker = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
    for (let node = walker.nextNode(); node; node = walker.nextNode()) {
      const parent = node.parentElement!;
      const text = node.textContent!.trim();
      const isDrawn = parent.checkVisibility({ visibilityProperty: true, opacityProperty: true });
      if (text === '' || !isDrawn || parent.closest('option, script, style, noscript') || isSticky(parent)) continue;
      const range = document.createRange();
      range.selectNodeContents(node);
      for (const { left, top, right, bottom } of range.getClientRects()) {
        const box = clipped({ text, left, top, right, bottom }, parent);
        // Text for screen readers only is one pixel large.
        if (box.right - box.left > 2 && box.bottom - box.top > 2) boxes.push(box);
      }
    }
    const found: string[] = [];
    for (const [i, a] of boxes.entries()) {
      for (const b of boxes.slice(i + 1)) {
        const wide = Math.min(a.right, b.right) - Math.max(a.left, b.left);
        const high = Math.min(a.bottom, b.bottom) - Math.max(a.top, b.top);
        // Adjacent lines share the space above and below their letters.
        const least = Math.min(a.bottom - a.top, b.bottom - b.top) / 3;
        if (wide > 2 && high > least) found.push(`${a.text} / ${b.text}`);
      }
    }
    return found;
  });
