import { type ContractMinutes, contractMinuteMeasures } from '../../core/domain/flow/contract-minutes.ts';
import type { Coverage } from '../../core/domain/flow/flow.ts';
import { dateOfEpochDay, epochDay, type SessionDate } from '../../core/domain/market-time.ts';
import { readFrom, type Store } from '../rows/connection.ts';
import { copyEncoded } from '../rows/copied-rows.ts';
import { anyOf } from '../rows/models/any-of.ts';
import type { EncodedRows } from '../rows/models/encoded-rows.ts';
import { numbered } from '../rows/models/numbered-rows.ts';
import type { Row } from '../rows/models/row-values.ts';
import { deleteRows, findRows, upsertRows } from '../rows/models/sets.ts';
import { requiredPart } from '../rows/required-part.ts';
import type { Transaction } from '../rows/transaction.ts';
import { blockVersion, decodeBlock, encodeBlock, numbers, texts } from '../series/codec.ts';
import { coverageKey, coveragesOf } from './sessions.ts';

/** Changed parts of an underlying's session. */
interface ChangedMinutes {
  underlying: string;
  sessionDate: SessionDate;
  parts: readonly Pick<ContractMinuteRun, 'part' | 'minutes'>[];
  /** True if these are all parts of the session. */
  isWhole: boolean;
}

const partKey = ['underlying', 'sessionDate', 'part'] as const;

/** Writes parts of sessions in place of the stored ones, in a transaction that holds `lockFlow`. */
export async function saveContractMinutes(tx: Transaction, changes: readonly ChangedMinutes[]): Promise<void> {
  const runs = changes.flatMap(({ parts, underlying, sessionDate }) =>
    parts.map((part) => ({ underlying, sessionDate, ...part })),
  );
  const whole = changes.filter(({ isWhole }) => isWhole);
  await deleteRows(tx, 'ContractMinuteBlock', { by: ['underlying', 'sessionDate'], keys: whole });
  const { written = [], emptied = [] } = Object.groupBy(runs, ({ minutes }) =>
    minutes.tsMs.length > 0 ? 'written' : 'emptied',
  );
  await deleteRows(tx, 'ContractMinuteBlock', { by: partKey, keys: emptied });
  await upsertRows(tx, 'ContractMinuteBlock', written.map(contractMinuteBlock));
}

/** Writes encoded parts of sessions without stored ones, in a transaction that holds `lockFlow`. */
export async function saveEncodedMinutes(
  tx: Transaction,
  parts: readonly EncodedRows<'ContractMinuteBlock'>[],
): Promise<void> {
  await copyEncoded(tx, 'ContractMinuteBlock', parts);
}

/** An underlying's session, as read. */
interface ContractMinutesKey {
  underlying: string;
  sessionDate: SessionDate;
}

/**
 * The coverage of underlyings' sessions whose minutes are not stored: earlier releases stored none. Two statements.
 */
export async function coveragesWithoutMinutes(
  store: Store,
  sessions: readonly ContractMinutesKey[],
): Promise<Map<string, Coverage>> {
  const underlyings = sessions.map(({ underlying }) => underlying);
  const coverages = await coveragesOf(readFrom(store, 'flow', underlyings), sessions);
  const stored = await readContractMinutes(store, sessions, -Infinity);
  return new Map([...coverages].filter(([key]) => !stored.has(key)));
}

const heldNumberBytes = 8;

/**
 * The parts of sessions that begin before `beforeMs`, by `coverageKey`; a session without stored minutes is
 * absent. Two statements; one if all parts are cached. Shared with other readers: do not change them.
 */
export async function readContractMinutes(
  store: Store,
  sessions: readonly ContractMinutesKey[],
  beforeMs: number,
): Promise<Map<string, ContractMinutes[]>> {
  const wanted = new Map(sessions.map((session) => [coverageKey(session), session]));
  const underlyings = new Set(sessions.map(({ underlying }) => underlying));
  const from = readFrom(store, 'flow', underlyings);
  const stored = await from.prisma.contractMinuteBlock.findMany({
    // Reads every combination of underlying and session: a few more than requested, at no extra cost.
    where: { underlying: anyOf(underlyings), sessionDate: anyOf(sessions.map(({ sessionDate }) => sessionDate)) },
    select: { underlying: true, sessionDate: true, part: true, startMs: true, version: true },
    orderBy: { part: 'asc' },
  });
  const heads = stored.map(numbered).filter((head) => wanted.has(coverageKey(head)));
  const cacheKey = ({ version, part, ...session }: (typeof heads)[number]) =>
    `contract-minutes:${coverageKey(session)} ${part} ${version}`;
  const begun = heads.filter(({ startMs }) => startMs < beforeMs);
  const cached = new Map(begun.map((head) => [cacheKey(head), store.blocks.get<ContractMinutes>(cacheKey(head))]));
  const keys = begun.filter((head) => cached.get(cacheKey(head)) === undefined);
  const rows = await findRows(from, 'ContractMinuteBlock', { by: partKey, keys }, [
    ...partKey,
    'startMs',
    'version',
    'count',
    'contracts',
    'payload',
  ]);
  for (const { contracts, payload, count, ...head } of rows) {
    const minutes = contractMinutesOf({ contracts, payload });
    cached.set(cacheKey(head), minutes);
    store.blocks.set(cacheKey(head), minutes, count * 7 * heldNumberBytes);
  }
  const found = new Map<string, ContractMinutes[]>(heads.map((head) => [coverageKey(head), []]));
  for (const head of begun) found.get(coverageKey(head))?.push(requiredPart(cached, cacheKey(head), 'block'));
  return found;
}

/** A part of an underlying's session to write: the minutes of its contracts, at least one. */
interface ContractMinuteRun {
  underlying: string;
  sessionDate: SessionDate;
  part: number;
  minutes: ContractMinutes;
}

const rights = ['call', 'put'] as const;

function encodeContracts({ contracts, lengths }: ContractMinutes): Uint8Array<ArrayBuffer> {
  return encodeBlock({
    root: contracts.map(({ root }) => root),
    expiry: Float64Array.from(contracts, ({ expiry }) => epochDay(expiry)),
    right: Float64Array.from(contracts, ({ right }) => rights.indexOf(right)),
    strike: Float64Array.from(contracts, ({ strike }) => strike),
    rows: lengths,
  });
}

/** Encodes a part of a session. */
export function contractMinuteBlock({ minutes, ...run }: ContractMinuteRun): Row<'ContractMinuteBlock'> {
  const { tsMs } = minutes;
  const measures = contractMinuteMeasures.map((name) => [name, minutes[name]] as const);
  const contracts = encodeContracts(minutes);
  const payload = encodeBlock({ tsMs, ...Object.fromEntries(measures) });
  const version = blockVersion(Buffer.concat([contracts, payload]));
  const startMs = tsMs.reduce((least, ms) => Math.min(least, ms), Infinity);
  return { ...run, startMs, count: tsMs.length, version, contracts, payload };
}

/** Decodes the result of `contractMinuteBlock`. */
export function contractMinutesOf(row: Pick<Row<'ContractMinuteBlock'>, 'contracts' | 'payload'>): ContractMinutes {
  const listed = decodeBlock(row.contracts);
  const [expiry, right, strike] = [numbers(listed, 'expiry'), numbers(listed, 'right'), numbers(listed, 'strike')];
  const columns = decodeBlock(row.payload);
  const measures = contractMinuteMeasures.map((name) => [name, numbers(columns, name)] as const);
  return {
    contracts: texts(listed, 'root').map((root, i) => ({
      root,
      expiry: dateOfEpochDay(expiry[i]!),
      right: rights[right[i]!]!,
      strike: strike[i]!,
    })),
    lengths: numbers(listed, 'rows'),
    tsMs: numbers(columns, 'tsMs'),
    ...(Object.fromEntries(measures) as Pick<ContractMinutes, (typeof contractMinuteMeasures)[number]>),
  };
}
