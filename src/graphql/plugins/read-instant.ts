import type { Plugin } from 'graphql-yoga';
import { isMarketGroup } from '../../core/domain/market-group.ts';
import { tellReadInstant } from '../../platform/http/read-instant.ts';
import { stateOf } from '../request-state.ts';

/**
 * Puts the read instant of an answer with market data into its `extensions.readAt`, epoch ms, as it is sent, and into a
 * header.
 */
export function readInstant(): Plugin {
  return {
    onExecute: ({ args }) => ({
      onExecuteDone: ({ result, setResult }) => {
        const { admitted, res } = stateOf(args as never);
        if (!admitted?.groups.some(isMarketGroup) || Symbol.asyncIterator in result) return;
        setResult({ ...result, extensions: { ...result.extensions, readAt: tellReadInstant(res) } });
      },
    }),
  };
}
