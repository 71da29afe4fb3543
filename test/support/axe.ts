import axe from 'axe-core';
import type { Page } from 'playwright-core';

interface AxeResults {
  violations: { id: string; nodes: { html: string; failureSummary?: string }[] }[];
}

const colorRules = ['color-contrast', 'link-in-text-block'];

/** Part of a page that is checked. */
interface AxeScope {
  /** Selector of the elements; absent = all of the page. */
  within?: string | undefined;
  /** Rules: those about colors, which a theme changes, or the others; absent = all. */
  colors?: 'only' | 'not' | undefined;
}

/** Rules for a page that is checked in both themes: its structure is the same, so only its colors are checked twice. */
export const themeRules = { dark: undefined, light: 'only' } as const;

/**
 * Removes the routes of the reference that have no kind of element that an earlier one does not have: the same tag,
 * classes and attributes that rules read, in the same place. Of more than fifty, six are left. Throws if an id is
 * there twice, which could not be seen afterwards.
 */
function removeRepeatedRoutes(): void {
  const ids = [...document.querySelectorAll('[id]')].map(({ id }) => id);
  if (new Set(ids).size < ids.length) throw new Error('two elements of the page have the same id');
  const read = ['role', 'type', 'aria-label', 'aria-expanded', 'aria-hidden', 'open', 'disabled', 'hidden', 'tabindex'];
  const kindOf = (element: Element) =>
    [element.localName, ...[...element.classList].sort(), ...read.filter((name) => element.hasAttribute(name))].join();
  const known = new Set<string>();
  for (const route of document.querySelectorAll('section.route')) {
    const kinds = [...route.querySelectorAll('*')].map((one) => `${kindOf(one.parentElement!)} > ${kindOf(one)}`);
    if (kinds.every((kind) => known.has(kind))) route.remove();
    for (const kind of kinds) known.add(kind);
  }
}

/**
 * axe-core's findings about the accessibility of a page in its current state: one line per rule and element; empty =
 * none.
 */
export async function axeFindings(page: Page, { within, colors }: AxeScope = {}): Promise<string[]> {
  if (within === undefined) await page.evaluate(removeRepeatedRoutes);
  // Evaluated by the debugger, because the page's content security policy allows no other added script.
  await page.evaluate(`${axe.source}; 0`);
  const options =
    colors === 'only'
      ? { runOnly: { type: 'rule', values: colorRules } }
      : { rules: Object.fromEntries(colorRules.map((rule) => [rule, { enabled: colors !== 'not' }])) };
  const run = `axe.run(${JSON.stringify(within ?? null)} ?? document, ${JSON.stringify(options)})`;
  const { violations } = (await page.evaluate(run)) as AxeResults;
  return violations.flatMap(({ id, nodes }) =>
    nodes.map(({ html, failureSummary }) => `${id}: ${html.slice(0, 160)} (${failureSummary ?? ''})`),
  );
}
