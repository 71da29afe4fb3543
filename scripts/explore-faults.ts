// `npm run explore:faults`: how much the model sees. Puts known faults into a copy of a commit, one at a time, and
// explores each for up to 10 minutes; each should be found. --only NAME tries one, --minutes N for another time.
import { spawnSync } from 'node:child_process';
import { readFileSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { commitOf, restore, treeOf } from './mutations/tree.ts';

interface Fault {
  name: string;
  file: string;
  from: string;
  to: string;
}

const faults: readonly Fault[] = [
  {
    name: 'waiting prints are joined by the tape of another symbol',
    file: 'src/ingest/files/tape-guard.ts',
    from: 'return rows.filter(({ symbol, sessionDate }) => keys.has(keyOf(symbol, sessionDate)));',
    to: 'return rows;',
  },
  {
    name: 'a tape with fewer prints replaces one with more',
    file: 'src/ingest/files/tape-guard.ts',
    from: 'if (prints < known.prints) return known.prints - prints;',
    to: 'if (prints < known.prints) return 0;',
  },
  {
    name: 'a tape that lacks stored prints replaces them',
    file: 'src/ingest/files/tape-guard.ts',
    from: 'return sketch().lacking((await tapeSketch(this.#tx, dataset, symbol, session))!);',
    to: 'return 0;',
  },
  {
    name: 'a session whose prices were withdrawn keeps its bars',
    file: 'src/store/market/bar-blocks.ts',
    from: 'if (bars.tsMs.length > 0) starts.delete(',
    to: 'starts.delete(',
  },
  {
    name: 'options of a session in progress are other data of stocks',
    file: 'src/store/market/tape-sessions.ts',
    from: "dataset === 'stock-trades'\n      ? []",
    to: 'dataset === undefined\n      ? []',
  },
  {
    name: 'changes are not divided by splits',
    file: 'src/live/quote-as-of.ts',
    from: 'splitFactor(splits, closed.date, price.sessionDate)',
    to: 'splitFactor([], closed.date, price.sessionDate)',
  },
  {
    name: 'the closing auction is the official close before the closing price',
    file: 'src/analytics/session/official-close.ts',
    from: '[officialCloseCondition, closingTradeCondition]',
    to: '[closingTradeCondition, officialCloseCondition]',
  },
  {
    name: 'odd lots set prices',
    file: 'src/domain/market/stock-trade-conditions.ts',
    from: "[37, 'Odd Lot Trade', volume]",
    to: "[37, 'Odd Lot Trade', all]",
  },
  {
    name: 'a category of two executions is published',
    file: 'src/analytics/offexchange/disclosure.ts',
    from: 'part.total.count >= disclosureThreshold',
    to: 'part.total.count >= disclosureThreshold - 1',
  },
  {
    name: 'withdrawn prints stand',
    file: 'src/analytics/prints/corrections.ts',
    from: 'if (records.some((entry) => isWithdrawn(codeOf(entry)))) return null;',
    to: '',
  },
  {
    name: 'the smallest premium is ranked first',
    file: 'src/analytics/flow/ranked-prints.ts',
    from: 'b.premiumUsd - a.premiumUsd ||',
    to: 'a.premiumUsd - b.premiumUsd ||',
  },
  {
    name: 'a split counts on the day before its ex-date',
    file: 'src/domain/market/splits.ts',
    from: 'if (exDate > from && exDate <= to) factor *= ratio;',
    to: 'if (exDate >= from && exDate < to) factor *= ratio;',
  },
];

const { values } = parseArgs({
  options: {
    commit: { type: 'string', default: 'HEAD' },
    minutes: { type: 'string', default: '10' },
    only: { type: 'string' },
    folder: { type: 'string', default: join(tmpdir(), 'tapegraph-faults') },
  },
});

/** The first difference that exploring a tree with a fault finds; null = none. */
function found(tree: string, { file, from, to }: Fault): string | null {
  const path = join(tree, file);
  const text = readFileSync(path, 'utf8');
  if (text.split(from).length !== 2) return 'its place is gone';
  writeFileSync(
    path,
    text.replace(from, () => to),
  );
  const args = ['scripts/explore.ts', '--minutes', values.minutes, '--seed', '1', '--quick'];
  const run = spawnSync(process.execPath, args, { cwd: tree, encoding: 'utf8' });
  restore(tree);
  return run.status === 0 ? null : (run.stdout.split('\n').find((line) => line.includes(', commit ')) ?? run.stderr);
}

const tree = treeOf(commitOf(values.commit), values.folder);
let count = 0;
const tried = faults.filter(({ name }) => values.only === undefined || name.includes(values.only));
for (const fault of tried) {
  const what = found(tree, fault);
  if (what !== null) count++;
  console.log(
    `${what === null ? 'not found' : 'found    '}  ${fault.name}${what === null ? '' : `\n           ${what}`}`,
  );
}
console.log(`${count} of ${tried.length} found`);
