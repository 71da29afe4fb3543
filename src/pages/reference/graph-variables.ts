import type { CompiledRoute } from '../../rest/contract/compiled-route.ts';
import { readParams } from '../../rest/contract/params.ts';

/**
 * The variables of a route's operation for texts of its parameters and a body, in the graph's form; null ones are
 * omitted.
 */
export function graphVariables(
  { route, operation }: CompiledRoute,
  params: Readonly<Record<string, string>>,
  body: string | null,
): Record<string, unknown> {
  const values = { ...readParams(route.pathParams, params), ...readParams(route.queryParams, params) };
  const read = route.body && body !== null ? route.body.read(Buffer.from(body)) : undefined;
  const variables: Record<string, unknown> = {
    ...route.variables(values, read),
    protobuf: false,
    provenance: values.provenance ?? false,
  };
  return Object.fromEntries(
    operation.variables.flatMap((name) => {
      const value = Buffer.isBuffer(variables[name]) ? String(variables[name]) : (variables[name] ?? null);
      return value === null ? [] : [[name, value]];
    }),
  );
}
