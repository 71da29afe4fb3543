import axe from 'axe-core';
import type { Page } from 'playwright-core';

interface AxeResults {
  violations: { id: string; nodes: { html: string; failureSummary?: string }[] }[];
}

/**
 * What axe-core finds against the accessibility of a page as it stands: one line per rule and element; empty = nothing.
 */
export async function axeFindings(page: Page): Promise<string[]> {
  // Evaluated by the debugger: the page's content security policy lets nobody else add a script.
  await page.evaluate(`${axe.source}; 0`);
  const { violations } = (await page.evaluate('axe.run()')) as AxeResults;
  return violations.flatMap(({ id, nodes }) =>
    nodes.map(({ html, failureSummary }) => `${id}: ${html.slice(0, 160)} (${failureSummary ?? ''})`),
  );
}
