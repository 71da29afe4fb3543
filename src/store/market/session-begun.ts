import { tradeSpan } from '../../core/domain/calendar.ts';
import type { SessionDate } from '../../core/domain/market-time.ts';
import { dependOn, readFrom, type Store } from '../rows/connection.ts';
import { anyOf } from '../rows/models/any-of.ts';
import { numbered } from '../rows/models/numbered-rows.ts';
import { symbolRegistry } from './symbols.ts';

/** Cached beginning of a session. */
interface Beginning {
  session: SessionDate;
  /** Versions of the data read; null = it may not be cached. */
  version: string | null;
  /** Epoch ms; Infinity = nothing of it is stored. */
  firstMs: number;
}

// At most one session is about to begin at a time.
const held = new WeakMap<Store['blocks'], Beginning>();

/** The instant of the first stored minute, option print or chain of a registered symbol in a session, epoch ms. */
async function firstOf(store: Store, session: SessionDate): Promise<number> {
  const registered = anyOf((await symbolRegistry(store)).registered().map(({ symbol }) => symbol));
  const [bars, prints, chains] = await Promise.all([
    readFrom(store, 'market', null).prisma.barBlock.aggregate({
      where: { symbol: registered, timeframe: '1m', spanStart: session },
      _min: { firstTsMs: true },
    }),
    readFrom(store, 'flow', null).prisma.flowCoverage.aggregate({
      where: { underlying: registered, sessionDate: session },
      _min: { observedFromMs: true },
    }),
    readFrom(store, 'chain', null).prisma.chainCapture.aggregate({
      where: { underlying: registered, sessionDate: session },
      _min: { capturedAt: true },
    }),
  ]);
  const first = [numbered(bars._min).firstTsMs, numbered(prints._min).observedFromMs, numbered(chains._min).capturedAt];
  return Math.min(...first.map((ms) => ms ?? Infinity));
}

/** True if a print or a capture of a session up to `nowMs` is stored. Once one is, nothing is read. */
export async function hasBegun(store: Store, session: SessionDate, nowMs: number): Promise<boolean> {
  if (nowMs < tradeSpan(session).fromMs) return false;
  const known = held.get(store.blocks);
  if (known?.session === session && known.firstMs <= nowMs) return true;
  const versions = (['market', 'flow', 'chain'] as const).map((subject) => dependOn(store, subject, null));
  const version = versions.includes(null) ? null : versions.join(' ');
  if (known?.session === session && version !== null && known.version === version) return false;
  const firstMs = await firstOf(store, session);
  held.set(store.blocks, { session, version, firstMs });
  return firstMs <= nowMs;
}
