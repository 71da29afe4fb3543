// `npm run explore:faults`: how much the model sees. Puts known faults into a copy of a commit, one at a time, and
// explores each for up to 10 minutes; each should be found. --only NAME tries one, --minutes N for another time,
// --kinds KIND,… with these commands alone, --commands N in lives of this length.
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
    file: 'src/intake/ingest/files/tape-guard.ts',
    from: 'return rows.filter(({ symbol, sessionDate }) => keys.has(keyOf(symbol, sessionDate)));',
    to: 'return rows;',
  },
  {
    name: 'a tape with fewer prints replaces one with more',
    file: 'src/intake/ingest/files/tape-guard.ts',
    from: 'if (prints < known.prints) return known.prints - prints;',
    to: 'if (prints < known.prints) return 0;',
  },
  {
    name: 'a tape that lacks stored prints replaces them',
    file: 'src/intake/ingest/files/tape-guard.ts',
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
    file: 'src/intake/ingest/files/tape-guard.ts',
    from: "of dataset === 'option-trades' ? await observedSessions(tx, of) : []",
    to: 'of await observedSessions(tx, of)',
  },
  {
    name: 'live data of one kind opens the stored tape of the other to a file with less',
    file: 'src/store/market/session-origins.ts',
    from: 'new Set(marked.map(keyOf).filter((key) => live.has(key)))',
    to: 'new Set(marked.map(keyOf))',
  },
  {
    name: 'a tape file of which a session was left is not read again',
    file: 'src/intake/ingest/store-files.ts',
    from: 'return isPartlyLeft || (unwritten',
    to: 'return (unwritten',
  },
  {
    name: 'changes are not divided by splits',
    file: 'src/live/quotes.ts',
    from: 'splitFactor(splits, closed.date, price.sessionDate)',
    to: 'splitFactor([], closed.date, price.sessionDate)',
  },
  {
    name: 'the closing auction is the official close before the closing price',
    file: 'src/core/analytics/session/official-close.ts',
    from: '[officialCloseCondition, closingTradeCondition]',
    to: '[closingTradeCondition, officialCloseCondition]',
  },
  {
    name: 'a quote stays at the last price after the official close of a live tape',
    file: 'src/core/analytics/session/stock-tape.ts',
    from: 'if (closing) return',
    to: 'if (false) return',
  },
  {
    name: 'odd lots set prices',
    file: 'src/core/domain/market/stock-trade-conditions.ts',
    from: "[37, 'Odd Lot Trade', volume]",
    to: "[37, 'Odd Lot Trade', all]",
  },
  {
    name: 'a category of two executions is published',
    file: 'src/core/analytics/offexchange/disclosure.ts',
    from: 'part.total.count >= disclosureThreshold',
    to: 'part.total.count >= disclosureThreshold - 1',
  },
  {
    name: 'withdrawn prints stand',
    file: 'src/core/analytics/prints/corrections.ts',
    from: 'if (records.some((entry) => isWithdrawn(codeOf(entry)))) return null;',
    to: '',
  },
  {
    name: 'the smallest premium is ranked first',
    file: 'src/core/analytics/flow/ranked-prints.ts',
    from: 'b.premiumUsd - a.premiumUsd ||',
    to: 'a.premiumUsd - b.premiumUsd ||',
  },
  {
    name: 'a split counts on the day before its ex-date',
    file: 'src/core/domain/market/splits.ts',
    from: 'if (exDate > from && exDate <= to) factor *= ratio;',
    to: 'if (exDate >= from && exDate < to) factor *= ratio;',
  },
  {
    name: 'a large field waits for fractions of those before it',
    file: 'src/graphql/execution/field-starts.ts',
    from: 'const items = Math.ceil(this.#items.get(keys) ?? 0);',
    to: 'const items = this.#items.get(keys) ?? 0;',
  },
  {
    name: 'a sweep has no longest span',
    file: 'src/core/analytics/flow/runs.ts',
    from: 'nanosFrom(ledger, open[0]!, entry) <= spanNanos',
    to: 'spanNanos > 0',
  },
  {
    name: 'prints on one exchange are a sweep',
    file: 'src/core/analytics/flow/runs.ts',
    from: "swept ? [{ kind: 'sweep', entries }] :",
    to: "swept || entries.length > 1 ? [{ kind: 'sweep', entries }] :",
  },
  {
    name: 'a chain without a spot is a group of its own',
    file: 'src/core/analytics/chain/chain-files.ts',
    from: 'if (spot === null || priced.every(',
    to: 'if (spot !== null && priced.every(',
  },
  {
    name: 'a file joins a group half an hour after its first',
    file: 'src/core/analytics/chain/chain-files.ts',
    from: 'file.sourceMs - group[0]!.sourceMs > joinedSpanMs',
    to: 'file.sourceMs - group[0]!.sourceMs > 2 * joinedSpanMs',
  },
  {
    name: 'a file joins a group with some of its contracts',
    file: 'src/core/analytics/chain/chain-files.ts',
    from: 'if (!(await tests.areDisjoint(other, file))) return false;',
    to: 'if (other.hash === file.hash) return false;',
  },
  {
    name: 'files of one chain are of different spots',
    file: 'src/core/analytics/chain/chain-files.ts',
    from: 'if (!(await tests.impliesSpot(each))) return false;',
    to: 'if (each === null) return false;',
  },
  {
    name: 'the spot of a chain is of its first file that knows one',
    file: 'src/core/analytics/chain/chain-files.ts',
    from: 'files.findLast((file) => file[name] !== null)',
    to: 'files.find((file) => file[name] !== null)',
  },
  {
    name: 'a partial chain is served as the latest',
    file: 'src/intake/ingest/chains/reference-capture.ts',
    from: 'return { subset: of.lacking > 0, alone: false,',
    to: 'return { subset: false, alone: false,',
  },
  {
    name: 'one contract of an expiry and right is all of it',
    file: 'src/core/analytics/chain/chain-files.ts',
    from: 'found < wholeShare * listed',
    to: 'found === 0',
  },
  {
    name: 'a chain of its instant is replaced by less',
    file: 'src/intake/ingest/chains/session-groups.ts',
    from: 'if (replace || (missing.length === 0 && knows)) replaced.push(file);',
    to: 'if (replace || knows) replaced.push(file);',
  },
  {
    name: 'the time of quotes is that of their page',
    file: 'src/core/domain/chain/chain.ts',
    from: 'return capturedAt - (delayMs ?? 0);',
    to: 'return capturedAt - 0 * (delayMs ?? 0);',
  },
  {
    name: 'expiries of an old chain settle by the clock of today',
    file: 'src/resolvers/figure-instant.ts',
    from: 'hasSettled: isLive ? (expiry) => !isOpen(context, expiry) : settledNever,',
    to: 'hasSettled: (expiry) => (isLive ? true : settledNever !== null) && !isOpen(context, expiry),',
  },
  {
    name: 'open interest is not joined to stored chains',
    file: 'src/intake/ingest/options/open-interest.ts',
    from: 'if (changed > 0) await joinWritten(job, written);',
    to: 'if (changed < 0) await joinWritten(job, written);',
  },
  {
    name: 'open interest is not joined to a chain that comes after it',
    file: 'src/intake/ingest/chains/regroup.ts',
    from: 'const chain = await withInterest(tx, await groups.captureOf(group));',
    to: 'const chain = await groups.captureOf(group);',
  },
  {
    name: 'the latest chain is the first one',
    file: 'src/store/rows/sql/chain/chain-captures-at.sql',
    from: '  ORDER BY captured_at DESC LIMIT 1\n) AS c ON true',
    to: '  ORDER BY captured_at LIMIT 1\n) AS c ON true',
  },
  {
    name: 'a chain that comes late prices those after it with the rates of today',
    file: 'src/intake/ingest/chains/regroup.ts',
    from: 'underlying, capturedAt))!).length === 0;',
    to: 'underlying, capturedAt))!).length < 0;',
  },
  {
    name: 'a chain that comes prices all of its session with the rates of today',
    file: 'src/intake/ingest/chains/regroup.ts',
    from: 'let isDirty = all;',
    to: 'let isDirty = all || captures.size > 0;',
  },
  {
    name: 'a chain that comes late prices those with settled contracts with the rates of today',
    file: 'src/store/chain/chain-captures.ts',
    from: '...header, ...decodePricing(pricing), file, hash',
    to: '...header, file, hash',
  },
  {
    name: 'rates of a later date price a session',
    file: 'src/store/market/rates.ts',
    from: 'const within = { lte: date, gte: addDays(date, -longestHeldDays) };',
    to: 'const within = { gte: addDays(date, -longestHeldDays) };',
  },
  {
    name: 'a file of many underlyings is stored without one that is refused',
    file: 'src/intake/ingest/chains/chain.ts',
    from: 'if (rejection !== null) throw',
    to: 'if (rejection !== null && isAlone) throw',
  },
  {
    name: 'a file of many underlyings that was read for some is not read for others',
    file: 'src/intake/ingest/chains/chain.ts',
    from: "symbols === null ? '' :",
    to: "symbols !== undefined ? '' :",
  },
  {
    name: 'chains of a file have the time of the newest of them',
    file: 'src/intake/tape/chains/chain-file.ts',
    from: 'Math.max(...groups.map(({ newestMs }) => newestMs))',
    to: 'Math.max(...[...this.#byRoot.values()].map(({ newestMs }) => newestMs))',
  },
  {
    name: 'expirations at the time of a chain are of the one before',
    file: 'src/store/chain/chain-captures.ts',
    from: 'const headers = await headersAsOf(store, times);',
    to: 'const headers = await headersAsOf(store, times.map((each) => ({ ...each, atMs: each.atMs - 1 })));',
  },
  {
    name: 'an answer of an old chain is kept over the close, at which its expiry settles',
    file: 'src/rest/http/router.ts',
    from: 'regularSession(date)?.closeMs ?? Number.POSITIVE_INFINITY',
    to: 'Number.POSITIVE_INFINITY',
  },
  {
    name: 'prints of one id are one',
    file: 'src/core/analytics/prints/corrections.ts',
    from: 'return !isAt || !sameData(ledger, entry, namesake);',
    to: 'return isAt && !isAt;',
  },
  {
    name: 'the volume of a bar of venues is that of the last',
    file: 'src/intake/tape/vendors/databento/venue-bars.ts',
    from: '    bar.close = close;\n',
    to: '    bar.close = close;\n    bar.volume = other.volume;\n',
  },
  {
    name: 'a day so far is that of its bars',
    file: 'src/live/served-bars.ts',
    from: 'withRows(concatBars([minutes, seconds]), rest)',
    to: 'concatBars([minutes, seconds])',
  },
  {
    name: 'a cursor is not bound to the instant',
    file: 'src/resolvers/cursor.ts',
    from: "return atMs == null && store.known === null ? [] : [atMs ?? '', store.known?.atMs ?? ''];",
    to: 'return atMs === -1 ? [atMs] : [];',
  },
  {
    name: 'levels of one execution are published',
    file: 'src/core/analytics/offexchange/activity.ts',
    from: 'const profile = withholdLevels(levels, formingCount(tally) - inLevels);',
    to: 'const profile = levels;',
  },
  {
    name: 'buckets of one session are published',
    file: 'src/core/analytics/offexchange/concentration.ts',
    from: 'sessions >= disclosureSessions',
    to: 'sessions >= 1',
  },
  {
    name: 'the concentration does not know splits',
    file: 'src/intake/ingest/stocks/off-exchange-session.ts',
    from: 'inSharesOf(each.levels, splitFactor(splits, each.sessionDate, sessionDate))',
    to: 'each.levels',
  },
  {
    name: 'off-exchange figures of old generations are served',
    file: 'src/rest/http/router.ts',
    from: "if (instant === 'without known' && query.known !== undefined)",
    to: 'if (instant === null)',
  },
  {
    name: 'off-exchange figures need no tier',
    file: 'src/access/entitlement/entitlement.ts',
    from: 'if (!reaches(caller.tier, floor)) throw notEntitledTier(what, floor);',
    to: '',
  },
  {
    name: 'quotes of symbols above the tier are served',
    file: 'src/resolvers/market/quotes.ts',
    from: 'if (symbolAccess(context.caller, entry).allowed) return',
    to: 'if (entry) return',
  },
  {
    name: 'an error of one file ends the call',
    file: 'src/intake/ingest/store-files.ts',
    from: 'if (error instanceof SessionSealed || !(await isUsable(tx, error))) return error;',
    to: 'return error;',
  },
  {
    name: 'a file without a line that can be stored is stored',
    file: 'src/intake/ingest/store-files.ts',
    from: 'if (empty) throw',
    to: 'if (!files) throw',
  },
  {
    name: 'an equal bar takes figures away',
    file: 'src/intake/ingest/files/bar-guard.ts',
    from: 'if (addsNothing(bars, i, stored, j)) found.stored.add(i);\n    else if',
    to: 'if',
  },
  {
    name: 'a bar without trades of another file replaces it',
    file: 'src/intake/ingest/files/bar-guard.ts',
    from: 'bars.volume[i] !== Math.round(stored.volume[j]!) &&',
    to: 'stored.volume[j] === -1 &&',
  },
  {
    name: 'hourly bars are minutes',
    file: 'src/intake/ingest/files/bar-file.ts',
    from: "this.#length === 'minute' ? this.#spacing.longMinutes() : null",
    to: 'null',
  },
  {
    name: 'of lines of one bar that differ the last counts',
    file: 'src/intake/ingest/files/bar-batch.ts',
    from: 'else throw equal.differing(key, tsMs[index]!);',
    to: 'else byInstant.set(tsMs[index]!, index);',
  },
  {
    name: 'late prints are not counted',
    file: 'src/intake/ingest/tail/open-sessions.ts',
    from: 'if (!isTaken) this.late++;',
    to: '',
  },
  {
    name: 'a sealed session changes',
    file: 'src/store/market/session-seals.ts',
    from: 'if (first) throw new SessionSealed',
    to: 'if (!tx) throw new SessionSealed',
  },
  {
    name: 'servers keep the sample market that other data took the place of',
    file: 'src/store/origin.ts',
    from: 'tx.changes.addAll();',
    to: '',
  },
  {
    name: 'rates of the sample market stay when other data is stored',
    file: 'src/store/market-models.ts',
    from: "'MetadataEntry',\n]);",
    to: "'MetadataEntry',\n  'Rate',\n]);",
  },
  {
    name: 'the first chain of a stream is ten days old',
    file: 'src/live/chains.ts',
    from: 'underlying, atMs: nowMs }',
    to: 'underlying, atMs: nowMs - 864_000_000 }',
  },
  {
    name: 'the first capture of a stream is ten days old',
    file: 'src/live/gex.ts',
    from: 'latestGexCaptures(store, unknown, nowMs, ',
    to: 'latestGexCaptures(store, unknown, nowMs - 864_000_000, ',
  },
  {
    name: 'captures of an instant count by the second',
    file: 'src/resolvers/as-of.ts',
    from: 'past?.atMs ?? nowMs;',
    to: 'nowMs;',
  },
  {
    name: 'a file without volumes is one of shares',
    file: 'src/intake/tape/csv/bar-lines.ts',
    from: 'const volume = isIndex ? 0 :',
    to: 'const volume = isIndex || at.volume === undefined ? 0 :',
  },
  {
    name: 'an index has the trades of its file',
    file: 'src/intake/tape/csv/bar-lines.ts',
    from: 'if (isIndex) return { tsMs',
    to: 'if (isIndex && at.volume === undefined) return { tsMs',
  },
  {
    name: 'the third line of a download of yfinance is a day',
    file: 'src/intake/tape/vendors/yfinance.ts',
    from: "if (key === 'Ticker' || key === 'Date') return null;",
    to: "if (key === 'Ticker') return null;",
  },
  {
    name: 'signed volume counts the minute in progress',
    file: 'src/core/domain/flow/contract-minutes.ts',
    from: 'tsMs[last]! < beforeMs',
    to: 'tsMs[last]! <= beforeMs',
  },
  {
    name: 'contracts without a side are bought',
    file: 'src/store/flow/signed-volumes.ts',
    from: 'bought: before.bought + sums.bought,',
    to: 'bought: before.bought + sums.bought + sums.unsided,',
  },
  {
    name: 'signed volume of trades without quotes is zero before the first',
    file: 'src/resolvers/flow/signed-volume.ts',
    from: 'if (!found.isSided) return null;',
    to: 'if (!found.isSided && found.byContract.size > 0) return null;',
  },
  {
    name: 'quotes of a reconciliation are not read',
    file: 'src/intake/ingest/options/reconcile.ts',
    from: 'const source = quotesOfTape(tx, paths.quotes);',
    to: 'const source = quotesOfTape(tx, []);',
  },
  {
    name: 'options of a tape that was read before the end are sealed',
    file: 'src/intake/ingest/seal.ts',
    from: 'return live.length > 0 ?',
    to: 'return live.length > 99 ?',
  },
  {
    name: 'chains of a sealed session change',
    file: 'src/intake/ingest/chains/chain.ts',
    from: '  await rejectSealed(\n    tx,\n    captures.map(',
    to: '  await rejectSealed(\n    tx,\n    captures.slice(9).map(',
  },
  {
    name: 'chains need no tier',
    file: 'src/resolvers/chain/chain.ts',
    from: 'requireReadable(context.caller, await findSymbol(context, symbol));',
    to: 'await findSymbol(context, symbol);',
  },
  {
    name: 'contracts need no tier',
    file: 'src/resolvers/chain/contract.ts',
    from: 'requireReadable(context.caller, await registeredSymbol(context, await underlyingOf(context, contract)));',
    to: 'await registeredSymbol(context, await underlyingOf(context, contract));',
  },
];

const { values } = parseArgs({
  options: {
    commit: { type: 'string', default: 'HEAD' },
    minutes: { type: 'string', default: '10' },
    only: { type: 'string' },
    kinds: { type: 'string' },
    commands: { type: 'string', default: '200' },
    folder: { type: 'string', default: join(tmpdir(), 'tapegraph-faults') },
  },
});

/** The first difference that exploring a tree with a fault finds; null = none. */
function found(tree: string, { name, file, from, to }: Fault): string | null {
  const path = join(tree, file);
  const text = readFileSync(path, 'utf8');
  if (text.split(from).length !== 2) throw new Error(`${file} has no longer the place of "${name}"`);
  writeFileSync(
    path,
    text.replace(from, () => to),
  );
  const kinds = values.kinds === undefined ? [] : ['--only', values.kinds];
  const length = ['--minutes', values.minutes, '--commands', values.commands];
  const args = ['scripts/explore.ts', ...length, '--seed', '1', '--quick', ...kinds];
  const run = spawnSync(process.execPath, args, { cwd: tree, encoding: 'utf8' });
  restore(tree);
  if (run.status === 0) return null;
  const line = run.stdout.split('\n').find((each) => each.includes(', commit '));
  // A run that ends otherwise has found nothing: the tree cannot run, say.
  if (line === undefined) throw new Error(`exploring failed: ${run.stderr.slice(0, 1000)}`);
  return line.slice(0, 200);
}

/** The share of the faults that must be found. */
const enough = 20 / 24;

const tree = treeOf(commitOf(values.commit), values.folder);
const tried = faults.filter(({ name }) => values.only === undefined || name.includes(values.only));
const missed: string[] = [];
for (const fault of tried) {
  const begun = Date.now();
  const what = found(tree, fault);
  const seconds = Math.round((Date.now() - begun) / 1000);
  if (what === null) missed.push(fault.name);
  console.log(`| ${fault.name} | ${what === null ? 'not found' : `found in ${seconds} s`} | ${what ?? ''} |`);
}
console.log(
  `${tried.length - missed.length} of ${tried.length} found${missed.length > 0 ? `; not: ${missed.join('; ')}` : ''}`,
);
process.exit(tried.length - missed.length < enough * tried.length ? 1 : 0);
