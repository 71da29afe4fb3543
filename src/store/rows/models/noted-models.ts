import { modelSubjects } from '../../versions/subjects.ts';
import type { Model } from './model-tables.ts';
import type { Models } from './prisma.ts';

const writes = /^(create|update|upsert|delete)/;

type Values = Record<string, unknown>;
interface Arguments {
  where?: Values;
  create?: Values;
  data?: Values | Values[];
}

/** Rows that identify what a write changes: the created ones, else those of its condition. */
function rowsOf({ where = {}, create, data }: Arguments, symbol: string, creates: boolean): Values[] {
  if (creates) return [data ?? create ?? {}].flat();
  const wanted = where[symbol];
  const list = (wanted as { in?: unknown } | undefined)?.in;
  if (Array.isArray(list)) return list.map((each) => ({ [symbol]: each }));
  return [{ [symbol]: wanted }];
}

/** Called before a write is sent, with rows that identify what it changes. A row without a symbol may concern any. */
type OnWrite = (model: Model, rows: readonly object[]) => void;

/** Models whose writes are reported to `onWrite`. */
export function notedModels(models: Models, onWrite: OnWrite): Models {
  const noted = new Map<string, unknown>();
  const note = (name: string, delegate: object) =>
    new Proxy(delegate, {
      get(target, operation) {
        const call = Reflect.get(target, operation) as unknown;
        if (typeof operation !== 'string' || typeof call !== 'function' || !writes.test(operation)) return call;
        return (args: Arguments = {}) => {
          const model = (name[0]!.toUpperCase() + name.slice(1)) as Model;
          const symbol = modelSubjects[model]?.symbol;
          const creates = operation.startsWith('create') || operation === 'upsert';
          onWrite(model, symbol == null ? [{}] : rowsOf(args, symbol, creates));
          return call.call(target, args);
        };
      },
    });
  return new Proxy(models, {
    get(target, name) {
      const delegate = Reflect.get(target, name) as unknown;
      if (typeof name !== 'string' || typeof delegate !== 'object' || delegate === null) return delegate;
      const known = noted.get(name) ?? note(name, delegate);
      noted.set(name, known);
      return known;
    },
  });
}

/**
 * Models outside of transactions. Versioned data is not written there: no notification would follow, and processes
 * would use outdated caches.
 */
export function readModels(models: Models): Models {
  return notedModels(models, (model) => {
    if (modelSubjects[model]) throw new Error(`${model} is held by processes: write it inside of inTransaction.`);
  });
}
