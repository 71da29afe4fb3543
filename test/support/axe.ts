import axe from 'axe-core';
import type { Page } from 'playwright-core';

interface AxeResults {
  violations: { id: string; nodes: { html: string; failureSummary?: string }[] }[];
}

const colorRules = ['color-contrast', 'link-in-text-block'];

/** What of a page is looked at. */
interface AxeScope {
  /** Selector of the elements; absent = all of the page. */
  within?: string | undefined;
  /** Rules: those about colors, which a theme changes, or the others; absent = all. */
  colors?: 'only' | 'not' | undefined;
}

/**
 * axe-core's findings about the accessibility of a page in its current state: one line per rule and element; empty =
 * none.
 */
export async function axeFindings(page: Page, { within, colors }: AxeScope = {}): Promise<string[]> {
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
