import { type ContractMinutes, contractMinuteMeasures } from '../../core/domain/flow/contract-minutes.ts';
import { dateOfEpochDay, epochDay, type SessionDate } from '../../core/domain/market-time.ts';
import type { Row } from '../rows/models/row-values.ts';
import { blockVersion } from '../series/block-version.ts';
import { decodeBlock, encodeBlock, numbers, texts } from '../series/codec.ts';

/** A part of an underlying's session to write: the minutes of its contracts, at least one. */
export interface ContractMinuteRun {
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
