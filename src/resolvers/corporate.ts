import { requireReadable } from '../access/entitlement/entitlement.ts';
import type { Dividend } from '../core/domain/market/dividends.ts';
import { billWithout, type Rate, rateAt } from '../core/domain/market/rates.ts';
import { isKnownOn, type Split } from '../core/domain/market/splits.ts';
import { exchangeDate, type SessionDate } from '../core/domain/market-time.ts';
import { batched } from '../platform/runtime/batched.ts';
import { invalidParameter } from '../platform/wire/failure.ts';
import { dividendsOf } from '../store/market/dividends.ts';
import { curveOn } from '../store/market/rates.ts';
import { readSplits } from '../store/market/splits.ts';
import { findSymbol, fromStore, ofAllInstants, type RequestContext } from './context.ts';

/** All stored splits of a symbol, ascending; those of one request are read together. */
export async function loadSplits(context: RequestContext, symbol: string): Promise<readonly Split[]> {
  const splits = await batched(ofAllInstants(context), 'splits', symbol, (symbols) =>
    fromStore('splits', () => readSplits(context.store, symbols)),
  );
  return splits ?? [];
}

/** The range of dates of a symbol's events, both ends included; null = no bound. */
export interface ExDates {
  from?: SessionDate | null | undefined;
  to?: SessionDate | null | undefined;
}

/** True if an event is known now and within the requested dates. */
export function isAsked(
  context: Pick<RequestContext, 'nowMs'>,
  { from, to }: ExDates,
): (fact: { exDate: SessionDate; declared: SessionDate | null }) => boolean {
  const today = exchangeDate(context.nowMs);
  return (fact) => isKnownOn(fact, today) && (from == null || fact.exDate >= from) && (to == null || fact.exDate <= to);
}

/** The splits of a symbol that are known now, ascending by ex-date. */
export async function symbolSplits(context: RequestContext, symbol: string, asked: ExDates): Promise<Split[]> {
  requireReadable(context.caller, await findSymbol(context, symbol));
  return (await loadSplits(context, symbol)).filter(isAsked(context, asked));
}

const noDividends: readonly Dividend[] = [];

/** All stored dividends of a symbol, ascending; those of one request are read together. */
export async function loadDividends(context: RequestContext, symbol: string): Promise<readonly Dividend[]> {
  const dividends = await batched(ofAllInstants(context), 'dividends', symbol, (symbols) =>
    fromStore('dividends', () => dividendsOf(context.store, symbols)),
  );
  return dividends ?? noDividends;
}

/** The dividends of a symbol that are known now, ascending by ex-date. */
export async function symbolDividends(context: RequestContext, symbol: string, asked: ExDates): Promise<Dividend[]> {
  requireReadable(context.caller, await findSymbol(context, symbol));
  return (await loadDividends(context, symbol)).filter(isAsked(context, asked));
}

const noCurve: readonly Rate[] = [];

/** The interest rate curve valid on a date, empty without one; read once per request. */
export async function loadCurve(context: RequestContext, date: SessionDate): Promise<readonly Rate[]> {
  const curve = await batched(ofAllInstants(context), 'curves', date, (dates) =>
    fromStore('rates', () => Promise.all(dates.map((each) => curveOn(context.store, each)))),
  );
  return curve.length === 0 ? noCurve : curve;
}

/** The date of rates: today unless given, never later. */
function rateDate({ nowMs }: Pick<RequestContext, 'nowMs'>, date: SessionDate | null): SessionDate {
  const today = exchangeDate(nowMs);
  return date === null || date > today ? today : date;
}

/** The interest rate curve valid on a date, else the point of US bills in force; empty without either. */
export async function rateCurve(context: RequestContext, date: SessionDate | null): Promise<Rate[]> {
  const asked = rateDate(context, date);
  const curve = await fromStore('rates', () => curveOn(context.store, asked));
  const bill = billWithout(curve, asked);
  return bill === null ? [...curve] : [bill];
}

/** The continuous rate for a number of days on a date; null without a curve or a bill. 400 for days below 1. */
export async function rateFor(context: RequestContext, days: number, date: SessionDate | null): Promise<number | null> {
  if (days < 1) throw invalidParameter('days', 'expected 1 or more');
  return rateAt(await rateCurve(context, date), days);
}
