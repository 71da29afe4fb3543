import {
  type InstrumentType,
  instrumentTypes,
  type SymbolClass,
  type SymbolEntry,
  symbolClasses,
  type TenorFrame,
  tenorFrames,
} from '../../domain/symbol.ts';
import { readTicker } from '../../domain/ticker.ts';
import { type Tier, tiers } from '../../domain/tier.ts';
import type { ColumnIndex, CsvFormat } from './csv.ts';
import { readCount, shown } from './values.ts';

const required = ['symbol', 'name'] as const;
const optional = [
  'class',
  'window_days',
  'tenor_frame',
  'min_tier',
  'requires_attestation',
  'sector',
  'listed',
  'instrument_type',
] as const;
type SymbolColumn = (typeof required)[number] | (typeof optional)[number];

function oneOf<T extends string>(values: readonly T[], text: string, missing: T): T | null {
  if (text === '') return missing;
  return values.find((value) => value === text.toLowerCase()) ?? null;
}

function readFlag(text: string, missing: boolean): boolean | null {
  if (text === '') return missing;
  if (/^(true|1|yes)$/i.test(text)) return true;
  return /^(false|0|no)$/i.test(text) ? false : null;
}

function readEntry(field: (name: SymbolColumn) => string): SymbolEntry | string {
  const wrong = (name: SymbolColumn, expected: string) => `${name}: expected ${expected}, got ${shown(field(name))}`;
  const symbol = readTicker(field('symbol'));
  if (symbol === null) return wrong('symbol', 'a ticker such as SPY or BRK.B');
  const symbolClass = oneOf<SymbolClass>(symbolClasses, field('class'), 'equity');
  if (symbolClass === null) return wrong('class', symbolClasses.join(' or '));
  const windowDays = field('window_days') === '' ? 60 : readCount(field('window_days'));
  if (!(windowDays >= 1 && windowDays <= 10_000)) return wrong('window_days', 'a whole number of days from 1 to 10000');
  const tenorFrame = oneOf<TenorFrame>(tenorFrames, field('tenor_frame'), 'weekly');
  if (tenorFrame === null) return wrong('tenor_frame', tenorFrames.join(' or '));
  const minTier = oneOf<Tier>(tiers, field('min_tier'), 'free');
  if (minTier === null) return wrong('min_tier', tiers.join(' or '));
  const requiresAttestation = readFlag(field('requires_attestation'), false);
  if (requiresAttestation === null) return wrong('requires_attestation', 'true or false');
  const registered = readFlag(field('listed'), true);
  if (registered === null) return wrong('listed', 'true or false');
  const instrumentType = oneOf<InstrumentType>(
    instrumentTypes,
    field('instrument_type'),
    symbolClass === 'index' ? 'index' : 'unknown',
  );
  if (instrumentType === null) return wrong('instrument_type', instrumentTypes.join(' or '));
  const name = field('name') === '' ? symbol : field('name');
  const sector = field('sector') === '' ? null : field('sector');
  return {
    symbol,
    name,
    class: symbolClass,
    registered,
    windowDays,
    tenorFrame,
    minTier,
    requiresAttestation,
    sector,
    instrumentType,
  };
}

/**
 * The symbol list: `symbol,name,class,window_days,tenor_frame,min_tier,requires_attestation,sector,listed` and,
 * optionally, `instrument_type`. `listed=true` (or blank) puts the ticker into the registry: analytics and entitlement;
 * `listed=false` into the ticker directory only: a real ticker, whose bars may be read. Blank fields mean equity, 60
 * days, weekly, free, no attestation, no sector.
 */
export const symbolList: CsvFormat<SymbolEntry, (typeof required)[number], (typeof optional)[number]> = {
  required,
  optional,
  reader: (at: ColumnIndex<SymbolColumn>) => (fields) =>
    readEntry((name) => (at[name] < 0 ? '' : fields[at[name]]!.trim())),
};
