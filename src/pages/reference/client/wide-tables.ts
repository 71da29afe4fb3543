// Width below which a table may be wider than the page, px.
const narrow = matchMedia('(max-width: 820px)');

/**
 * Makes tables that may be wider than a narrow window focusable, so that they can be scrolled by keyboard; others are
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
