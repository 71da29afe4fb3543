import { execFileSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import { exchangeInstant } from '../src/domain/market-time.ts';
import { openGround } from './ground.ts';

// What only measurements need is installed here, not with the product.
if (!existsSync(new URL('./node_modules', import.meta.url))) {
  execFileSync('npm', ['ci', '--ignore-scripts'], { cwd: import.meta.dirname, stdio: 'inherit' });
}

const ground = await openGround(exchangeInstant('2026-11-20', 12 * 60));
try {
  const { barsPage, prepareBars } = await import('./bars-page.ts');
  await prepareBars(ground.store);
  await barsPage(ground);
} finally {
  await ground.close();
}
