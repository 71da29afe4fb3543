import { statSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it, vi } from 'vitest';
import { optionTapeFile } from '../../../src/intake/sample/market/options/option-tape-file.ts';
import { sampleShape, sampleVersion } from '../../../src/intake/sample/market/plan.ts';
import { samplePrices } from '../../../src/intake/sample/market/prices.ts';
import { writeMetadata } from '../../../src/store/rows/metadata.ts';
import { dataFolder } from '../../support/data-folder.ts';
import { storeForThisTest } from '../../support/store.ts';
import { optionLedger } from '../../support/tapes/planted-options.ts';
import { served } from '../served.ts';

interface CrossSection {
  by_strike: { measures: { call_volume: number; put_volume: number } }[];
}

interface LiveEvent {
  coverage: object;
  update: { event: { event_id: string } };
}

describe('tapegraph serve --sample', () => {
  it('shows the same key at every start, and it reads what needs the most', async () => {
    const sampled = await storeForThisTest();
    const data = dataFolder();
    // The market is said to be there, which is quicker than bringing it.
    const clock = '2026-11-20T04:00:00Z';
    await writeMetadata(sampled, 'sample', JSON.stringify({ version: sampleVersion, throughMs: Date.parse(clock) }));
    const own = { TAPEGRAPH_DATA: data, DATABASE_URL: sampled.databaseUrl, LOG_LEVEL: 'warn' };
    const first = await served(['--sample', '--clock', clock], own);
    const answer = await fetch(`${first.ready.url}/v2/flow/large-trades?symbol=SPX`, {
      headers: { authorization: `Bearer ${first.ready.key}` },
    });
    expect(answer.status).toBe(200);
    first.child.kill('SIGTERM');
    await first.ended;
    const second = await served(['--sample', '--clock', clock], own);
    expect(second.ready.key).toBe(first.ready.key);
    expect(statSync(join(data, 'sample-key')).mode & 0o077).toBe(0);
  });

  it('lets the session under way trade by the clock, and goes on with it at the next start', async () => {
    const sampled = await storeForThisTest();
    // The market is said to be there up to now, and nothing of its session's tape is.
    const clock = '2026-11-19T14:40:00Z';
    await writeMetadata(sampled, 'sample', JSON.stringify({ version: sampleVersion, throughMs: Date.parse(clock) }));
    const own = { TAPEGRAPH_DATA: dataFolder(), DATABASE_URL: sampled.databaseUrl, LOG_LEVEL: 'warn' };
    const reading = ({ url, key }: { url: string; key?: string }) => {
      const read = async (path: string) =>
        (await fetch(`${url}${path}`, { headers: { authorization: `Bearer ${key}` } })).json();
      return {
        events: async () => (await read('/v2/flow/large-trades?symbol=SPY&limit=50')).data.events as LiveEvent[],
        volume: async () => {
          const { by_strike } = (await read('/v2/flow/SPY/cross-section')).data.snapshot.update as CrossSection;
          return by_strike.reduce((sum, { measures }) => sum + measures.call_volume + measures.put_volume, 0);
        },
      };
    };
    const first = await served(['--sample', '--clock', clock], own);
    const before = reading(first.ready);
    await vi.waitUntil(async () => (await before.events()).length > 0, { timeout: 120_000, interval: 200 });
    const events = await before.events();
    for (const { coverage } of events) expect(coverage).toMatchObject({ status: 'observed_live', complete: false });
    first.child.kill('SIGTERM');
    expect(await first.ended).toMatchObject({ code: 0, stderr: '' });
    const second = await served(['--sample', '--clock', '2026-11-19T14:50:00Z'], own);
    const after = reading(second.ready);
    const soFar = await after.volume();
    const grown = async () => (await after.volume()) > soFar && (await after.events()).length > events.length;
    await vi.waitUntil(grown, { timeout: 120_000, interval: 200 });
    const idsOf = (read: LiveEvent[]) => read.map(({ update }) => update.event.event_id);
    const ids = idsOf(await after.events());
    expect(new Set(ids).size).toBe(ids.length);
    // Those that no cancel has taken back by then.
    const { tape } = optionTapeFile(samplePrices(), '2026-11-19', Date.parse('2026-11-19T14:51:00Z'), sampleShape.tape);
    const standing = new Set(optionLedger(tape).events.map(({ eventId }) => eventId));
    expect(ids).toEqual(expect.arrayContaining(idsOf(events).filter((id) => standing.has(id))));
  }, 300_000);
});
