import { requireSymbol } from '../../access/entitlement/entitlement.ts';
import { invalidParameter } from '../../domain/failure.ts';
import { missed } from '../../live/gex.ts';
import type { LiveSource } from '../../live/source.ts';
import type { StoredGexCapture } from '../../store/gex/captures.ts';
import { findSymbol, type RequestContext, requireSource } from '../context.ts';
import { requireReadable } from './gex.ts';

/** A symbol's captures: the latest, then each as it is made, or made again. 403 when the symbol may not be read. */
export async function followGex(context: RequestContext, symbol: string): Promise<LiveSource<StoredGexCapture>> {
  await requireReadable(context, symbol);
  requireSource(context, 'chain');
  const { after } = context;
  if (after !== null && !/^\d{1,15}$/.test(after))
    throw invalidParameter('after', 'expected the time of a capture, epoch ms');
  return context.live.gex.follow({
    keys: [symbol],
    resume:
      after === null ? null : { after, read: (state) => missed(context.live.store, symbol, Number(after), state) },
    async check(caller) {
      const entry = await findSymbol(context, symbol);
      if (entry) requireSymbol(caller, entry);
    },
  });
}
