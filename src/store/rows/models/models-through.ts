import type { Models } from './prisma.ts';

type Call = <T>(call: (models: Models) => Promise<T>) => Promise<T>;
type Operation = (args?: unknown) => Promise<unknown>;

/** Models whose every operation is run by `run`, which chooses the models; it may repeat an operation on others. */
export function modelsThrough(run: Call): Models {
  const model = (name: string) =>
    new Proxy(
      {},
      {
        get: (_, operation: string) => (args?: unknown) =>
          run((models) => {
            const operations = models[name as keyof Models] as unknown as Record<string, Operation>;
            return operations[operation]!(args);
          }),
      },
    );
  return new Proxy(
    {},
    { get: (_, name) => (typeof name === 'string' && name !== 'then' ? model(name) : undefined) },
  ) as Models;
}
