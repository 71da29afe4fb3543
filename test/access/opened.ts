import { randomBytes } from 'node:crypto';
import { generateApiKey } from '../../src/access/identity/api-keys.ts';
import { type Access, type AccessOptions, openAccess } from '../../src/access/open-access.ts';
import type { Store } from '../../src/store/rows/connection.ts';
import { openPrisma } from '../../src/store/rows/models/prisma.ts';

/** The instant at which the clocks of these tests start, epoch ms. */
export const start = Date.UTC(2026, 10, 20, 15);

/** Access whose time the test tells, over a store whose statements it counts. */
export interface Opened {
  access: Access;
  /** Moves the clock and monotonic time on. */
  pass(ms: number): void;
  /** Statements sent since it was last asked. */
  statements(): string[];
  /** While set, every statement fails with it. */
  failWith(error: Error | null): void;
  lines: string[];
}

/** Opens access over `store`. */
export async function opened(store: Store, config: Partial<AccessOptions['config']> = {}): Promise<Opened> {
  let time = start;
  let sent: string[] = [];
  let failure: Error | null = null;
  const lines: string[] = [];
  const pool = new Proxy(store.pool, {
    get(target, name) {
      const value = Reflect.get(target, name);
      // Each has listeners of its own, which the one pool would count.
      if (name === 'on') return () => target;
      if (name === 'connect' && failure) return () => Promise.reject(failure);
      if (name !== 'query') return typeof value === 'function' ? value.bind(target) : value;
      return (...args: unknown[]) => {
        const query = args[0] as string | { text: string };
        sent.push(typeof query === 'string' ? query : query.text);
        return failure ? Promise.reject(failure) : value.apply(target, args);
      };
    },
  });
  const prisma = openPrisma(pool, 'public');
  const access = await openAccess({
    store: { ...store, pool, prisma: prisma.models, holdModels: prisma.hold },
    config: {
      redisUrl: null,
      sessionSecret: null,
      sessionJwksUrl: null,
      sessionIssuer: null,
      sessionAudience: null,
      sessionMaxHours: 720,
      rates: { free: 60, basic: 300, pro: 600, anonymous: 60 },
      maxStreams: 100,
      ...config,
    },
    now: () => time,
    elapsed: () => time - start + 1000,
    log: (line) => lines.push(line),
  });
  return {
    access,
    lines,
    pass: (ms) => {
      time += ms;
    },
    statements: () => {
      const taken = sent;
      sent = [];
      return taken;
    },
    failWith: (error) => {
      failure = error;
    },
  };
}

/** A key with a right checksum that was never made. */
export function madeUpKey(): string {
  return generateApiKey(randomBytes).key;
}
