import { expect, test } from 'vitest';
import { symbolClasses } from '../../../../src/core/domain/market/symbol.ts';
import {
  ensureStarterRegistry,
  starterRegistryFile,
} from '../../../../src/intake/ingest/files/lists/starter-registry.ts';
import { ingestFiles } from '../../../../src/intake/ingest/ingest.ts';
import { tiers } from '../../../../src/platform/config/tiers.ts';
import { symbolRegistry } from '../../../../src/store/market/symbols.ts';
import { storeForThisTest } from '../../../support/store.ts';

const now = () => 1_800_000_000_000;

test('an empty store gets well-known tickers of every class and tier, eleven sectors and a larger directory', async () => {
  const store = await storeForThisTest();
  expect(await ensureStarterRegistry(store, now)).toBe(true);
  const registry = await symbolRegistry(store);
  const registered = registry.registered();
  expect(registered.length).toBeGreaterThanOrEqual(150);
  const combinations = new Set(registered.map((entry) => `${entry.class} ${entry.minTier}`));
  expect(combinations.size).toBe(symbolClasses.length * tiers.length);
  expect(new Set(registered.map((entry) => entry.sector).filter((sector) => sector !== null)).size).toBe(11);
  for (const symbol of ['SPX', 'NDX', 'RUT', 'VIX', 'XSP', 'DJX']) {
    expect(registry.get(symbol)).toMatchObject({ class: 'index', minTier: 'pro', requiresAttestation: true });
  }
  expect(registry.get('RIVN')).toMatchObject({
    registered: false,
    minTier: 'free',
    windowDays: 60,
    tenorFrame: 'weekly',
  });
});

test('a store with tickers keeps its own', async () => {
  const store = await storeForThisTest();
  await ensureStarterRegistry(store, now);
  await store.pool.query(`DELETE FROM symbols WHERE symbol <> 'SPY'`);
  expect(await ensureStarterRegistry(store, now)).toBe(false);
});

test('a symbol list sent again changes nothing', async () => {
  const store = await storeForThisTest();
  await ensureStarterRegistry(store, now);
  const { files } = await ingestFiles(store, 'symbols', [starterRegistryFile], { now });
  expect(files[0]!.status).toBe('unchanged');
});
