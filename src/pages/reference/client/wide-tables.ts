// Narrower than this, a table may be wider than its page, px.
const narrow = matchMedia('(max-width: 820px)');

/**
 * Tables that may be wider than a narrow window can get the keyboard focus, so that they can be scrolled; others are
 * skipped.
 */
export function reachWideTables(): void {
  const show = () => {
    for (const table of document.querySelectorAll<HTMLElement>('.scroll')) {
      if (narrow.matches) table.tabIndex = 0;
      else table.removeAttribute('tabindex');
    }
  };
  narrow.addEventListener('change', show);
  show();
}
