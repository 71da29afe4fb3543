import type { RequestContext } from '../resolvers/context.ts';
import { ageOf } from '../resolvers/figure-instant.ts';
import type { QuoteTime } from '../resolvers/quote-time.ts';
import { builder } from './builder.ts';
import { free } from './cost.ts';

/** The interface of answers with the times of a capture's quotes. */
export const QuoteTimeInterface = builder.interfaceRef<QuoteTime>('QuoteTime').implement({
  description:
    'Time of the quotes of a capture. Time to expiry, volatilities, greeks and 0DTE are computed as of that time.',
  fields: (t) => ({
    sourceTime: t.expose('sourceTime', {
      type: 'EpochMs',
      nullable: true,
      description:
        'Time of the quotes, epoch ms: the time of the capture less the delay of its source. Null if there is no capture.',
    }),
    delayMs: t.exposeInt('delayMs', {
      nullable: true,
      description:
        'Number of milliseconds that the quotes are older than the capture; null when unknown, which counts as 0.',
    }),
    age: t.field({
      type: 'Long',
      nullable: true,
      description:
        "Number of milliseconds from the time of the quotes to the answer's instant; null if there is no capture.",
      readsClock: true,
      scope: 'parent',
      price: free,
      resolve: ({ sourceTime }: QuoteTime, _args: object, context: RequestContext) => ageOf(context, sourceTime),
    }),
  }),
});

/** Description of the note of `meta`. */
export const captureNote =
  'Names the date of the capture if it is the latest and of neither the current session nor the last one, or says that the ticker is unknown; null otherwise.';

/** Description of the field of `meta`. */
export const delayedSourceTime =
  'Time of the quotes, epoch ms, if they are older than the capture because its source is delayed; null otherwise.';
