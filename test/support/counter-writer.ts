// A thread that counts in a store of its own, as another process does, until it is sent a message; it answers with the
// last number.
import { parentPort, workerData } from 'node:worker_threads';
import { openStore } from '../../src/store/rows/connection.ts';
import { type Counted, keepCounting } from './counter-market.ts';

const { databaseUrl, counted } = workerData as { databaseUrl: string; counted: Counted };
const store = await openStore({ databaseUrl, dataDir: '', migrate: false });
const counting = keepCounting(store, counted);
parentPort!.once('message', async () => {
  const last = await counting.stop();
  await store.close();
  parentPort!.postMessage(last);
});
