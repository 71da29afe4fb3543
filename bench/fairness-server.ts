import { execFileSync } from 'node:child_process';
import { exchangeInstant } from '../src/core/domain/market-time.ts';
import { prepareBars, symbols } from './bars-page.ts';
import { prepareGex, session } from './gex-history.ts';
import { openGround } from './ground.ts';

// The gateway in a process of its own, its main thread on one core, so that other processes' load is not measured as
// its own.

const ground = await openGround(exchangeInstant('2026-11-20', 8 * 60), { RATE_FREE: '1000000' });
await prepareBars(ground.store);
await prepareGex(ground.store);

async function credentials(accountId: string, siteTier: 'free' | 'pro'): Promise<{ key: string; session: string }> {
  await ground.access.accounts.set(accountId, { siteTier, apiTier: siteTier, classification: 'non_professional' });
  const { key } = await ground.access.keys.create({ accountId, name: null, expiresAt: null });
  return { key, session: await ground.access.sessions.create(accountId, 86_400_000) };
}

// Only now, and this thread alone: the database, which this process started, and the collector's threads keep all
// cores.
if (process.argv[2] !== undefined)
  execFileSync('taskset', ['-p', '-c', process.argv[2], String(process.pid)], { stdio: 'ignore' });

process.send!({
  url: ground.gateway.url,
  light: await credentials('light', 'free'),
  heavy: [await credentials('heavy-1', 'pro'), await credentials('heavy-2', 'pro')],
  symbols,
  session,
});
process.once('message', () => void ground.close().then(() => process.exit(0)));
