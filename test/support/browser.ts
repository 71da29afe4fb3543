import { existsSync } from 'node:fs';
import { type Browser, type BrowserContext, chromium, type Page } from 'playwright-core';
import { expect, onTestFinished } from 'vitest';
import { notRunOutsideCi } from './not-run.ts';

/** Debian's browsers. The shell is Chromium without windows: the tests take a third less CPU in it. */
const browsers = ['/usr/bin/chromium-headless-shell', '/usr/bin/chromium'];

/** The browser that CHROMIUM names, or one of Debian's; null if there is none. */
export const chromiumPath: string | null =
  [process.env.CHROMIUM, ...browsers].find((path) => path !== undefined && existsSync(path)) ?? null;
if (chromiumPath === null)
  notRunOutsideCi('tests in a browser', `there is no Chromium (${browsers.join(', ')}, or CHROMIUM)`);

/** Errors of a page, and its requests to other hosts. Empty if all is well. */
export interface Complaints {
  console: string[];
  otherHosts: string[];
}

/** Options of opening a page. */
export interface PageOptions {
  /** Entries of local storage, removed again when the page closes: where it is given, there is no key but its own. */
  storage?: Record<string, string>;
  /** Pixels. */
  width?: number;
  colorScheme?: 'dark' | 'light';
  /** True for a reader who has not asked for less motion. Drawing it takes a quarter of a page's CPU. */
  motion?: boolean;
}

/** A page in a tab of its own. */
export interface OpenedPage {
  page: Page;
  complaints: Complaints;
  /** Bodies of its requests to the graph. */
  asked: string[];
  close: () => Promise<void>;
}

/** Starts the browser that `chromiumPath` names. */
export function startBrowser(): Promise<Browser> {
  return chromium.launch({
    executablePath: chromiumPath!,
    args: [
      '--no-sandbox',
      '--disable-gpu',
      '--disable-background-networking',
      '--disable-component-update',
      '--disable-sync',
      '--no-first-run',
    ],
  });
}

/** Opens a page on `url`, in a tab of its own, where local storage holds `storage` from the start. */
export async function openPage(
  context: BrowserContext,
  url: string,
  { storage, width = 1440, colorScheme = 'dark', motion = false }: PageOptions = {},
): Promise<OpenedPage> {
  const page = await context.newPage();
  await page.setViewportSize({ width, height: 900 });
  await page.emulateMedia({ colorScheme, reducedMotion: motion ? 'no-preference' : 'reduce' });
  const complaints: Complaints = { console: [], otherHosts: [] };
  // A broken rule of the page's content security policy is an error of the console too.
  page.on('console', (message) => {
    if (message.type() === 'error') complaints.console.push(`${message.text()} ${message.location().url}`);
  });
  page.on('pageerror', (error) => complaints.console.push(String(error)));
  const asked: string[] = [];
  page.on('request', (request) => {
    if (request.url().endsWith('/graphql')) asked.push(request.postData() ?? '');
    const { origin, protocol } = new URL(request.url());
    if (origin !== new URL(url).origin && protocol !== 'data:') complaints.otherHosts.push(request.url());
  });
  if (storage !== undefined)
    await page.addInitScript((entries) => {
      // Once per tab: later changes of the page's storage survive a reload.
      if (sessionStorage.getItem('given') !== null) return;
      sessionStorage.setItem('given', 'yes');
      localStorage.removeItem('tapegraph-key');
      for (const [name, value] of Object.entries(entries)) localStorage.setItem(name, value);
    }, storage);
  await page.goto(url);
  const close = async () => {
    const names = Object.keys(storage ?? {});
    const remove = (all: string[]) => {
      for (const name of all) localStorage.removeItem(name);
    };
    await page.evaluate(remove, names).catch(() => {});
    await page.close();
  };
  return { page, complaints, asked, close };
}

/** A page that may complain of nothing by the end of the test, which closes it. */
export async function openCleanPage(context: BrowserContext, url: string, options: PageOptions = {}): Promise<Page> {
  const { page, complaints, close } = await openPage(context, url, options);
  onTestFinished(async () => {
    await close();
    expect(complaints).toEqual({ console: [], otherHosts: [] });
  });
  return page;
}
