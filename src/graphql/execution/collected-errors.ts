import { type GraphQLError, type GraphQLResolveInfo, locatedError } from 'graphql';
import type { FieldPlan } from './execution-plan.ts';

export type Path = GraphQLResolveInfo['path'];

/** Keys of a path, in the form that an error has. */
function keysOf(path: Path): (string | number)[] {
  const keys: (string | number)[] = [];
  for (let at: Path | undefined = path; at; at = at.prev) keys.push(at.key);
  return keys.reverse();
}

/** Approximate bytes of an error in an answer, besides its message and path. */
const errorBytes = 200;

/** The errors of an execution, without those below a path that is null because of another error. */
export class CollectedErrors {
  readonly errors: GraphQLError[] = [];
  readonly #paths = new Set<Path | undefined>();

  /** @param took Called with the bytes that each error adds to the answer. */
  readonly took: (bytes: number) => void;

  constructor(took: (bytes: number) => void) {
    this.took = took;
  }

  /** A thrown value as an error with its location. */
  located(thrown: unknown, { nodes }: FieldPlan, path: Path): GraphQLError {
    return locatedError(thrown, nodes, keysOf(path));
  }

  /** @param path The path that is null because of the error; undefined = the whole answer. */
  add(error: GraphQLError, path: Path | undefined): void {
    for (let at = path; at; at = at.prev) if (this.#paths.has(at)) return;
    if (this.#paths.has(undefined)) return;
    this.#paths.add(path);
    this.errors.push(error);
    this.took(errorBytes + error.message.length);
  }
}
