import { execFileSync } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';
import { exchangeInstant } from '../src/core/domain/market-time.ts';
import { type Ground, openGround } from './ground.ts';

// Packages that only measurements use are installed here, not with the product.
const { dependencies } = JSON.parse(readFileSync(new URL('./package.json', import.meta.url), 'utf8'));
const isThere = (name: string) => existsSync(new URL(`./node_modules/${name}`, import.meta.url));
if (!Object.keys(dependencies).every(isThere)) {
  execFileSync('npm', ['ci', '--ignore-scripts'], { cwd: import.meta.dirname, stdio: 'inherit' });
}

// Imported only now: their packages may just have been installed.
const { barsPage, prepareBars } = await import('./bars-page.ts');
const { gexHistory, prepareGex } = await import('./gex-history.ts');
const { dashboard, prepareDashboard } = await import('./dashboard.ts');
const { tape } = await import('./tape.ts');
const { oneCommit } = await import('./one-commit.ts');
const { workers } = await import('./workers.ts');
const { observing } = await import('./observing.ts');
const { streams } = await import('./streams.ts');
const { live } = await import('./live.ts');
const { memory } = await import('./memory.ts');
const { cleanEnd } = await import('./clean-end.ts');
const { fairness } = await import('./fairness.ts');
const { readers } = await import('./readers.ts');
const { scale } = await import('./scale.ts');
const { bodyWeights } = await import('./body-weights.ts');
const { documentWeights } = await import('./document-weights.ts');
const { diff } = await import('./diff.ts');
const { asOf } = await import('./as-of.ts');
const { screener } = await import('./screener.ts');
const { ownRoutes } = await import('./own-routes.ts');
const { superseded } = await import('./superseded.ts');
const { year } = await import('./year.ts');
const onGround: Record<string, (ground: Ground) => Promise<unknown>> = {
  bars: barsPage,
  gex: gexHistory,
  dashboard,
  'one-commit': oneCommit,
  workers,
};
const alone: Record<string, () => Promise<unknown>> = {
  tape,
  observing,
  streams,
  live,
  memory,
  'clean-end': cleanEnd,
  fairness,
  documents: documentWeights,
  bodies: bodyWeights,
  readers,
  diff,
  'as-of': asOf,
  screener,
  'own-routes': ownRoutes,
  superseded,
};

// Only by name: one requires a server of its own and 30 GB, the other many minutes.
const byName: Record<string, () => Promise<unknown>> = { scale, year };

const known = [onGround, alone, byName].flatMap((each) => Object.keys(each));
const asked = process.argv.slice(2);
const unknown = asked.filter((name) => !known.includes(name));
if (unknown.length > 0)
  throw new Error(`no measurement is called ${unknown.join(', ')}: there are ${known.join(', ')}`);
const isWanted = ([name]: [string, unknown]) => asked.length === 0 || asked.includes(name);

const served = Object.entries(onGround).filter(isWanted);
if (served.length > 0) {
  const ground = await openGround(exchangeInstant('2026-11-20', 8 * 60));
  try {
    await prepareBars(ground.store);
    await prepareGex(ground.store);
    await prepareDashboard(ground.store);
    for (const [, measure] of served) await measure(ground);
  } finally {
    await ground.close();
  }
}
for (const [, measure] of Object.entries(alone).filter(isWanted)) await measure();
for (const [name, measure] of Object.entries(byName)) if (asked.includes(name)) await measure();
