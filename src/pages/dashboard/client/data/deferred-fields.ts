// The parts of a view that load when their panels scroll into view.

import type { SymbolParts } from '../../../../../generated/pages/operation-types.ts';
import type { DashboardState } from './dashboard-state.ts';
import type { FieldError } from './graph-client.ts';
import { withCapture } from './live-rows.ts';
import { type Part, parts } from './part-names.ts';
import { withPageOfTrades } from './trade-list.ts';

/** Paths of a part in an answer. */
const pathsOf: Readonly<Record<Part, readonly (readonly string[])[]>> = {
  trades: [['symbol', 'flow', 'largeTrades']],
  heat: [['symbol', 'gex', 'history']],
  volatility: [['symbol', 'volatility', 'surface']],
  offExchange: [
    ['symbol', 'offExchange', 'composition'],
    ['symbol', 'offExchange', 'concentration'],
  ],
};

const isOf = (part: Part, { path }: FieldError) =>
  pathsOf[part].some((of) => of.every((name, index) => path[index] === name));

/** The variables that select some parts and none of the others. */
export const partVariables = (asked: readonly Part[]) =>
  Object.fromEntries(parts.map((part) => [part, asked.includes(part)])) as Record<Part, boolean>;

/** The errors that concern some parts. */
export const errorsOf = (errors: readonly FieldError[], some: readonly Part[]) =>
  errors.filter((error) => some.some((part) => isOf(part, error)));

/** Changes of the state by the parts of an answer; others are unchanged. */
export function withParts(
  { loaded, trades, capture, view }: Pick<DashboardState, 'loaded' | 'trades' | 'capture' | 'view'>,
  { flow, gex, volatility, offExchange }: SymbolParts,
  asked: readonly Part[],
): Partial<DashboardState> {
  const history = gex.history ?? null;
  // A capture received during this request can be later than the answer.
  const isLater = view.session === null && capture !== null && history !== null;
  return {
    loaded: [...new Set([...loaded, ...asked])],
    ...(asked.includes('trades') && flow.largeTrades && { trades: withPageOfTrades(trades, flow.largeTrades) }),
    ...(asked.includes('heat') && { history: isLater ? withLaterCapture(history, capture) : history }),
    ...(asked.includes('volatility') && { surface: volatility.surface ?? null }),
    ...(asked.includes('offExchange') && {
      composition: offExchange.composition ?? null,
      concentration: offExchange.concentration ?? null,
    }),
  };
}

function withLaterCapture(
  history: NonNullable<DashboardState['history']>,
  capture: NonNullable<DashboardState['capture']>,
): DashboardState['history'] {
  const last = history.captures.at(-1)?.capturedAt ?? 0;
  return capture.sessionDate === history.sessionDate && capture.capturedAt > last
    ? withCapture(history, capture)
    : history;
}
