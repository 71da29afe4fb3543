import type { RootEntry } from '../../../core/domain/chain/option-root.ts';
import type { ColumnOf } from '../formats/format.ts';
import { rootList as format } from '../formats/own-formats.ts';
import type { CsvFormat } from './csv.ts';
import { type Cells, cellReader, readCount } from './values.ts';

type RootColumn = ColumnOf<typeof format>;

const largestMultiplier = 1_000_000;

function readRoot(cells: Cells<RootColumn>): RootEntry {
  const written = cells.text('root').toUpperCase();
  const root = cells.checked('root', /^[A-Z0-9]{1,6}$/.test(written) ? written : null, 'an OSI root such as SPXW');
  const underlying = cells.ticker('underlying');
  const style = cells.word('style', ['european', 'american']);
  const settlement = cells.word('settlement', ['am', 'pm']);
  const deliverable = cells.word('deliverable', ['standard', 'adjusted'], 'standard');
  const onForwards = cells.flag('on_forwards', false);
  const [from, to] = [cells.optionalDate('from'), cells.optionalDate('to')];
  if (from !== null && to !== null && to < from) cells.refuse(`to: ${to} is before from, ${from}`);
  const count = readCount(cells.text('multiplier'));
  // A blank multiplier is the usual one, but unknown for an adjusted deliverable.
  const usual = deliverable === 'standard' ? 100 : null;
  const isCount = count >= 1 && count <= largestMultiplier;
  const multiplier =
    cells.text('multiplier') === ''
      ? usual
      : cells.checked('multiplier', isCount ? count : null, `a whole number from 1 to ${largestMultiplier}`);
  return { root, underlying, style, settlement, multiplier, deliverable, onForwards, from, to };
}

/**
 * Option roots: `root,underlying,style,settlement` and, optionally, `multiplier,deliverable,on_forwards,from,to`.
 * `from` and `to` are the first and the last session for which the line is valid; blank = no bound.
 */
export const rootList: CsvFormat<RootEntry, RootColumn> = {
  ...format,
  reader: cellReader(readRoot),
};
