import {
  type InstrumentType,
  instrumentTypes,
  type SymbolClass,
  type SymbolEntry,
  symbolClasses,
  type TenorFrame,
  tenorFrames,
} from '../../../core/domain/market/symbol.ts';
import { type Tier, tiers } from '../../../platform/config/tiers.ts';
import type { ColumnOf } from '../formats/format.ts';
import { symbolList as format } from '../formats/own-formats.ts';
import type { CsvFormat } from './csv.ts';
import { type Cells, cellReader, readCount } from './values.ts';

type SymbolColumn = ColumnOf<typeof format>;

function readEntry(cells: Cells<SymbolColumn>): SymbolEntry {
  const { text, word, flag } = cells;
  const symbol = cells.ticker('symbol');
  const symbolClass = word<SymbolClass>('class', symbolClasses, 'equity');
  const days = text('window_days') === '' ? 60 : readCount(text('window_days'));
  const isWindow = days >= 1 && days <= 10_000;
  return {
    symbol,
    name: text('name') === '' ? symbol : text('name'),
    class: symbolClass,
    windowDays: cells.checked('window_days', isWindow ? days : null, 'a whole number of days from 1 to 10000'),
    tenorFrame: word<TenorFrame>('tenor_frame', tenorFrames, 'weekly'),
    minTier: word<Tier>('min_tier', tiers, 'free'),
    requiresAttestation: flag('requires_attestation', false),
    registered: flag('listed', true),
    instrumentType: word<InstrumentType>(
      'instrument_type',
      instrumentTypes,
      symbolClass === 'index' ? 'index' : 'unknown',
    ),
    sector: text('sector') === '' ? null : text('sector'),
  };
}

/**
 * The symbol list: `symbol,name,class,window_days,tenor_frame,min_tier,requires_attestation,sector,listed` and,
 * optionally, `instrument_type`. `listed=true` (or blank) adds the ticker to the registry, for analytics and
 * entitlement; `listed=false` only to the ticker directory: a real ticker, whose bars may be read. Blank fields mean
 * equity, 60 days, weekly, free, no attestation, no sector.
 */
export const symbolList: CsvFormat<SymbolEntry, SymbolColumn> = {
  ...format,
  reader: cellReader(readEntry),
};
