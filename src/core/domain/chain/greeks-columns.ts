import type { Columns } from '../columns.ts';
import { greekColumns } from './chain-columns.ts';

const solved = (name: 'iv' | 'delta' | 'gamma') =>
  ({ type: 'float64', description: `${greekColumns[name].description} Null if not solvable.` }) as const;
const quoted = { type: 'float64', description: 'Dollars a share; null if there is no live quote.' } as const;

/** The numbers of a solve, in the order of its stored record: one that is added comes last. */
export const solveColumns = {
  iv: solved('iv'),
  delta: solved('delta'),
  gamma: solved('gamma'),
  mark: { type: 'float64', nullable: false, description: 'Option price used by the solve, dollars a share.' },
  bid: quoted,
  ask: quoted,
} as const satisfies Columns;

const { bid, ask, ...inSeries } = solveColumns;
/** The numbers of a sample of a contract's series. */
export const sampleColumns = inSeries;
