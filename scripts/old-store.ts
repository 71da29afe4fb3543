// Fills a store with the oldest release that a store may come from, to try an upgrade on:
//   node scripts/old-store.ts [--everything]
// The store is that of DATABASE_URL, or the embedded one of TAPEGRAPH_DATA. Prints what to ask with.
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { fillStore } from './upgrade/fill.ts';
import { prepareRelease } from './upgrade/release.ts';

const { values } = parseArgs({ options: { everything: { type: 'boolean', default: false } } });
const { TAPEGRAPH_DATA, DATABASE_URL } = process.env;
if (!TAPEGRAPH_DATA) throw new Error('TAPEGRAPH_DATA: expected the folder of the store, and of the sample files');
const release = prepareRelease();
if (release.folder === null) throw new Error(release.absent);
const settings = { TAPEGRAPH_DATA, ...(DATABASE_URL && { DATABASE_URL }) };
const logFile = join(TAPEGRAPH_DATA, 'old-release.log');
const filled = await fillStore(release.folder, settings, { everything: values.everything, logFile });
console.log(JSON.stringify(filled, null, 2));
