// Keyboard shortcuts, which work everywhere except in fields.
import type { DashboardController } from './data/dashboard-controller.ts';
import { timeframes } from './timeframes.ts';

const inField = (target: EventTarget | null) =>
  target instanceof HTMLElement && (target.isContentEditable || /^(INPUT|SELECT|TEXTAREA)$/.test(target.tagName));

/** Listens for the keys of the page. */
export function listenForKeys(controller: DashboardController): void {
  const focus = (selector: string) => document.querySelector<HTMLElement>(selector)?.focus();
  const does: Record<string, () => void> = {
    '/': () => focus('#symbol-input'),
    w: () => focus('.watchlist a[aria-current], .watchlist a'),
    r: () => controller.reload(),
    '?': () => controller.showHelp(true),
  };
  timeframes.forEach((timeframe, index) => {
    does[String(index + 1)] = () => controller.show({ timeframe });
  });
  document.addEventListener('keydown', (event) => {
    if (event.ctrlKey || event.metaKey || event.altKey || inField(event.target) || controller.store.get().helpShown)
      return;
    const doIt = does[event.key];
    if (!doIt) return;
    event.preventDefault();
    doIt();
  });
}
