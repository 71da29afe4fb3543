import { execFileSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import { exchangeInstant } from '../src/domain/market-time.ts';
import { openGround } from './ground.ts';

// What only measurements need is installed here, not with the product.
if (!existsSync(new URL('./node_modules', import.meta.url))) {
  execFileSync('npm', ['ci', '--ignore-scripts'], { cwd: import.meta.dirname, stdio: 'inherit' });
}

const ground = await openGround(exchangeInstant('2026-11-20', 8 * 60));
try {
  // Imported only now: their packages may just have been installed.
  const { barsPage, prepareBars } = await import('./bars-page.ts');
  const { gexHistory, prepareGex } = await import('./gex-history.ts');
  const { dashboard, prepareDashboard } = await import('./dashboard.ts');
  const wanted = process.argv.slice(2);
  const measurements = { bars: barsPage, gex: gexHistory, dashboard };
  await prepareBars(ground.store);
  await prepareGex(ground.store);
  await prepareDashboard(ground.store);
  for (const [name, measure] of Object.entries(measurements)) {
    if (wanted.length === 0 || wanted.includes(name)) await measure(ground);
  }
} finally {
  await ground.close();
}
