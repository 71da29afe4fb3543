import type pg from 'pg';
import { invalidParameter } from '../../platform/wire/failure.ts';
import type { Store } from '../rows/connection.ts';
import { modelsThrough } from '../rows/models/models-through.ts';
import type { Reader } from '../rows/reader.ts';
import type { Snapshot } from '../rows/snapshots.ts';
import { readKnowledge } from './knowledge.ts';
import { knownText } from './known-text.ts';

/** A snapshot that reads of instants of knowledge share. */
export interface KnownSnapshot {
  snapshot: Snapshot;
  /** Changes of the data that the process knew before it was taken; null = it was taken before. */
  changesBefore: number | null;
}

/** A store that reads data as it was known at an instant, epoch ms; nothing that it reads is held by the process. */
export function knownStore(store: Store, { snapshot, changesBefore }: KnownSnapshot, atMs: number): Store {
  const { versions, schema } = store;
  let loading: Promise<(text: string) => string> | null = null;

  async function load(): Promise<(text: string) => string> {
    const { knownFromMs, ...knowledge } = await readKnowledge(snapshot.reader, atMs);
    if (knownFromMs !== null && atMs < knownFromMs)
      throw invalidParameter(
        'known',
        `expected ${new Date(knownFromMs).toISOString()} (${knownFromMs}) or later, the oldest generation that is stored`,
      );
    return (text) => knownText(schema, text, knowledge);
  }
  const change = () => {
    loading ??= load();
    return loading;
  };

  const reader: Reader = {
    routing: snapshot.reader.routing,
    query: async (statement, values) => snapshot.rewritten(await change()).query(statement, values),
    prisma: modelsThrough(async (call) => call(snapshot.rewritten(await change()).prisma)),
  };
  const known: Store['known'] = {
    ...{ atMs, today: store },
    versionOf: (subject, symbol) => (versions.count === changesBefore ? versions.of(subject, symbol) : null),
    check: async () => void (await change()),
    async statement({ name: _, ...config }): Promise<pg.QueryConfig> {
      return { ...config, text: (await change())(config.text) };
    },
  };
  return { ...store, view: null, snapshot, reader, primary: reader, prisma: reader.prisma, replicas: null, known };
}
