import { readFileSync } from 'node:fs';
import { setTimeout as delay } from 'node:timers/promises';
import type { OwnGateway } from '../own-gateway.ts';
import type { OwnPostgres, OwnRedis } from './own-servers.ts';

/** Something that breaks, and is whole again when the promise is fulfilled. */
export interface Fault {
  name: string;
  run(): Promise<void>;
}

/** Process ids of the workers, the one in the place of a killed worker included. */
export interface Workers {
  pids(): number[];
  /** Kills the first worker; the other one lives through the whole run, so that its memory can be followed. */
  killFirst(): void;
}

function childrenOf(pid: number): number[] {
  try {
    return readFileSync(`/proc/${pid}/task/${pid}/children`, 'utf8').split(' ').filter(Boolean).map(Number);
  } catch {
    return [];
  }
}

/** Processes of the pool: the workers, and the one that waits to take the place of a worker. Oldest first. */
function poolOf(parent: number): number[] {
  return childrenOf(parent).filter((pid) => {
    try {
      return readFileSync(`/proc/${pid}/cmdline`, 'utf8').includes('worker.ts');
    } catch {
      return false;
    }
  });
}

/** Follows which processes are the workers of a gateway. */
export function followWorkers(gateway: OwnGateway): Workers {
  const slots = [...gateway.workers];
  const parent = gateway.child.pid!;
  return {
    pids() {
      const alive = poolOf(parent);
      // The one that waited longest is the one that took the place.
      const fresh = alive.filter((pid) => !slots.includes(pid));
      for (const [index, pid] of slots.entries())
        if (!alive.includes(pid) && fresh.length > 0) slots[index] = fresh.shift()!;
      return [...slots];
    },
    killFirst() {
      const [first] = this.pids();
      if (first !== undefined) process.kill(first, 'SIGKILL');
    },
  };
}

/** The faults of a soak. */
export function faultsOf(postgres: OwnPostgres, redis: OwnRedis, workers: Workers): Fault[] {
  return [
    { name: 'database connections cut', run: () => postgres.cutConnections() },
    {
      name: 'database stopped for 3 s',
      async run() {
        await postgres.stop();
        await delay(3000);
        await postgres.start();
      },
    },
    {
      name: 'database killed',
      async run() {
        await postgres.kill();
        await postgres.start();
      },
    },
    { name: 'Redis connections cut', run: () => redis.cutConnections() },
    {
      name: 'Redis killed for 5 s',
      async run() {
        await redis.kill();
        await delay(5000);
        await redis.start();
      },
    },
    { name: 'worker killed', run: async () => workers.killFirst() },
  ];
}
