import axe from 'axe-core';
import type { Page } from 'playwright-core';

interface AxeResults {
  violations: { id: string; nodes: { html: string; failureSummary?: string }[] }[];
}

/**
 * axe-core's findings about the accessibility of a page in its current state: one line per rule and element; empty =
 * none.
 */
export async function axeFindings(page: Page): Promise<string[]> {
  // Evaluated by the debugger, because the page's content security policy allows no other added script.
  await page.evaluate(`${axe.source}; 0`);
  const { violations } = (await page.evaluate('axe.run()')) as AxeResults;
  return violations.flatMap(({ id, nodes }) =>
    nodes.map(({ html, failureSummary }) => `${id}: ${html.slice(0, 160)} (${failureSummary ?? ''})`),
  );
}
