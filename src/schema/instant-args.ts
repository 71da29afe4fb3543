import { exchangeTimeZone } from '../core/domain/market-time.ts';
import { builder } from './builder.ts';

/** Options of an argument for the time zone of the named arguments. */
export const zoneOf = (which: string) =>
  ({ type: 'TimeZone', defaultValue: exchangeTimeZone, description: `Time zone of ${which}.` }) as const;

/** The arguments of a field as of an instant: `at`, with its description, and its time zone. */
export const instantArgs = (at: string) =>
  builder.args((arg) => ({
    at: arg.field({ type: 'PointInTime', description: at }),
    tz: arg.field(zoneOf('at, if it is a local time')),
  }));

/** The arguments of a field that compares two captures, each with its description, and their time zone. */
export const comparedArgs = (from: string, to: string) =>
  builder.args((arg) => ({
    from: arg.field({ type: 'CapturePoint', required: true, description: from }),
    to: arg.field({ type: 'CapturePoint', required: true, description: to }),
    tz: arg.field(zoneOf('from and to, if they are local times')),
  }));
