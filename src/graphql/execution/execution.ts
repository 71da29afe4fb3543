import { defaultTypeResolver, type GraphQLAbstractType, type GraphQLLeafType, type GraphQLObjectType } from 'graphql';
import type { WrittenJson } from '../../wire/json-chunks.ts';
import type { CollectedErrors, Path } from './collected-errors.ts';
import { isPlain, isPromise } from './completed.ts';
import { type FieldPlan, type ObjectPlan, runtimeTypeOf, type Shape } from './execution-plan.ts';
import { ListRun } from './list-run.ts';
import type { Pieces } from './sliced-work.ts';

type AnswerPath = Path | undefined;

const pathTo = (field: FieldPlan, parent: AnswerPath): Path => ({
  prev: parent,
  key: field.key,
  typename: field.parentType.name,
});

/** The path of the field that a value belongs to: lists have numbers in between. */
function fieldPath(path: Path): Path {
  let at = path;
  while (typeof at.key === 'number' && at.prev) at = at.prev;
  return at;
}

/** Number of fields and lists above a path. */
function depthOf(path: Path): number {
  let depth = 0;
  for (let at = path.prev; at; at = at.prev) depth++;
  return depth;
}

/**
 * Runs the fields of an operation as the specification of GraphQL says, with JSON text instead of objects. A list is
 * completed as long as the piece of work lasts, and the rest of it in later pieces.
 */
export class Execution {
  readonly context: unknown;
  readonly pieces: Pieces;
  readonly errors: CollectedErrors;

  constructor(context: unknown, pieces: Pieces, errors: CollectedErrors) {
    this.context = context;
    this.pieces = pieces;
    this.errors = errors;
  }

  /** The fields of an object. */
  fields({ fields, isWide }: ObjectPlan, source: unknown, path: AnswerPath): unknown {
    return isWide ? this.#wide(fields, source, path) : this.#narrow(fields, source, path);
  }

  /** The fields of a mutation: each is completed, with all below it, before the next begins. */
  async serialFields({ fields }: ObjectPlan, source: unknown): Promise<WrittenJson> {
    const completed: unknown[] = [];
    for (const field of fields) completed.push(await this.pieces.later(() => this.#field(field, source, undefined)));
    return this.#written(fields, 0, '{', completed);
  }

  #narrow(fields: readonly FieldPlan[], source: unknown, path: AnswerPath): unknown {
    const found: Record<string, unknown> = {};
    for (let i = 0; i < fields.length; i++) {
      const field = fields[i]!;
      const value = this.#field(field, source, path);
      if (!isPlain(value)) return this.#mixed(fields, i, JSON.stringify(found).slice(0, -1), value, source, path);
      found[field.key] = value;
    }
    return found;
  }

  /** As `#narrow`, written at once: objects of many keys are slow. */
  #wide(fields: readonly FieldPlan[], source: unknown, path: AnswerPath): unknown {
    let text = '{';
    for (let i = 0; i < fields.length; i++) {
      const field = fields[i]!;
      const value = this.#field(field, source, path);
      if (!isPlain(value)) return this.#mixed(fields, i, text, value, source, path);
      text += i === 0 ? field.keyText : `,${field.keyText}`;
      text += typeof value === 'number' && Number.isFinite(value) ? value : JSON.stringify(value);
    }
    const writer = this.pieces.writer();
    writer.text(`${text}}`);
    return writer.done();
  }

  /** The fields of an object. The field at `start` is the first that is not plain; `before` are those before it. */
  #mixed(
    fields: readonly FieldPlan[],
    start: number,
    before: string,
    first: unknown,
    source: unknown,
    path: AnswerPath,
  ): unknown {
    const values = [first];
    try {
      for (let i = start + 1; i < fields.length; i++) values.push(this.#field(fields[i]!, source, path));
    } catch (error) {
      // The values that are waited for may fail too, which does not matter any more.
      const fail = () => {
        throw error;
      };
      return Promise.all(values).then(fail, fail);
    }
    const written = (completed: readonly unknown[]) => this.#written(fields, start, before, completed);
    return values.some((value) => value instanceof Promise) ? Promise.all(values).then(written) : written(values);
  }

  /** The JSON of an object whose fields before the one at `start` are written. */
  #written(fields: readonly FieldPlan[], start: number, before: string, completed: readonly unknown[]): WrittenJson {
    const writer = this.pieces.writer();
    writer.text(before);
    for (const [i, value] of completed.entries()) {
      const { keyText } = fields[start + i]!;
      writer.text(start + i === 0 ? keyText : `,${keyText}`);
      writer.value(value);
    }
    writer.text('}');
    return writer.done();
  }

  #field(field: FieldPlan, source: unknown, parent: AnswerPath): unknown {
    const { shape, resolve } = field;
    // The path of a leaf is made only where something needs it.
    let path: Path | undefined = shape.kind === 'leaf' && !resolve ? undefined : pathTo(field, parent);
    try {
      const value = resolve
        ? resolve(source, field.args(), this.context, field.info(path!))
        : this.#property(field, source, parent);
      if (isPromise(value)) {
        path ??= pathTo(field, parent);
        return this.#awaited(field, shape, path, value);
      }
      const done = this.#complete(field, shape, path, value);
      return done instanceof Promise ? this.#caught(field, shape, path!, done) : done;
    } catch (error) {
      return this.#failed(field, shape, path ?? pathTo(field, parent), error);
    }
  }

  /** Default resolver of GraphQL: the property of the field's name, called if it is a function. */
  #property(field: FieldPlan, source: unknown, parent: AnswerPath): unknown {
    if ((typeof source !== 'object' && typeof source !== 'function') || source === null) return undefined;
    const { name } = field.definition;
    const value = (source as Record<string, unknown>)[name];
    if (typeof value !== 'function') {
      // Arguments that do not fit are an error also where nobody looks at them.
      if (field.definition.args.length > 0) field.args();
      return value;
    }
    const call = (source as Record<string, (...args: unknown[]) => unknown>)[name]!;
    return call.call(source, field.args(), this.context, field.info(pathTo(field, parent)));
  }

  /** Completes a value when it comes: at once while the piece lasts, else in a later one. */
  #awaited(field: FieldPlan, shape: Shape, path: Path, value: Promise<unknown>): Promise<unknown> {
    const completed = Promise.resolve(value).then((found): unknown => {
      if (this.pieces.mayGoOn()) return this.#complete(field, shape, path, found);
      return this.pieces.later(() => this.#complete(field, shape, path, found), depthOf(path));
    });
    return this.#caught(field, shape, path, completed);
  }

  #caught(field: FieldPlan, shape: Shape, path: Path, done: Promise<unknown>): Promise<unknown> {
    return done.then(undefined, (error: unknown) => this.#failed(field, shape, path, error));
  }

  /** A value that could not be completed is null, or, where it must not be, its parent fails. */
  #failed(field: FieldPlan, { nonNull }: Shape, path: Path, thrown: unknown): null {
    const error = this.errors.located(thrown, field, path);
    if (nonNull) throw error;
    this.errors.add(error, path);
    return null;
  }

  /** `path` is absent for leaves alone. */
  #complete(field: FieldPlan, shape: Shape, path: Path | undefined, value: unknown): unknown {
    if (value instanceof Error) throw value;
    if (value === null || value === undefined) {
      if (shape.nonNull) throw nullIn(field);
      return null;
    }
    // Items are counted with the lists that they are of.
    if (shape === field.shape && shape.kind !== 'list') field.tally.count++;
    switch (shape.kind) {
      case 'leaf':
        return this.#leaf(field, shape.type, value);
      case 'object':
        return this.#object(field, shape.type, path!, value);
      case 'list':
        return this.#list(field, shape.item, path!, value);
      case 'abstract':
        return this.#abstract(field, shape.type, path!, value);
    }
  }

  #leaf({ tally }: FieldPlan, type: GraphQLLeafType, value: unknown): unknown {
    const serialized = type.serialize(value) as unknown;
    if (serialized === null || serialized === undefined)
      throw new Error(`Expected ${type.name} to serialize to a value that is not null, but it became ${serialized}.`);
    this.pieces.leaves++;
    if (typeof serialized === 'string') tally.characters += serialized.length;
    return serialized;
  }

  #object(field: FieldPlan, type: GraphQLObjectType, path: Path, value: unknown): unknown {
    const fields = field.fieldsOf(type);
    if (!type.isTypeOf) return this.fields(fields, value, path);
    const is = type.isTypeOf(value, this.context, field.info(fieldPath(path)));
    const checked = (isOf: boolean): unknown => {
      if (!isOf) throw new Error(`Expected a value of type "${type.name}".`);
      return this.fields(fields, value, path);
    };
    return isPromise<boolean>(is) ? Promise.resolve(is).then(checked) : checked(is);
  }

  #abstract(field: FieldPlan, type: GraphQLAbstractType, path: Path, value: unknown): unknown {
    const resolveType = type.resolveType ?? defaultTypeResolver;
    const name = resolveType(value, this.context, field.info(fieldPath(path)), type);
    const { schema } = field.plans.operation;
    const completed = (found: unknown) => this.#object(field, runtimeTypeOf(schema, type, field, found), path, value);
    return isPromise(name) ? Promise.resolve(name).then(completed) : completed(name);
  }

  #list(field: FieldPlan, shape: Shape, path: Path, value: unknown): unknown {
    if (typeof value !== 'object' || !(Symbol.iterator in (value as object)))
      throw new Error(
        `Expected Iterable, but did not find one for field "${field.parentType.name}.${field.definition.name}".`,
      );
    const list = {
      items: (value as Iterable<unknown>)[Symbol.iterator](),
      complete: (item: unknown, index: number) => this.#item(field, shape, path, index, item),
      // Leaves are so quick that looking at the time for each would take longer.
      itemsALook: shape.kind === 'leaf' ? 64 : 1,
      depth: depthOf(path),
    };
    return new ListRun(list, this.pieces).run();
  }

  /** An item of a list. */
  #item(field: FieldPlan, shape: Shape, list: Path, index: number, value: unknown): unknown {
    let path: Path | undefined = shape.kind === 'leaf' ? undefined : { prev: list, key: index, typename: undefined };
    if (field.shape.kind === 'list' && shape === field.shape.item) {
      field.tally.items++;
      field.tally.count++;
    }
    try {
      if (isPromise(value)) {
        path ??= { prev: list, key: index, typename: undefined };
        return this.#awaited(field, shape, path, value);
      }
      const done = this.#complete(field, shape, path, value);
      return done instanceof Promise ? this.#caught(field, shape, path!, done) : done;
    } catch (error) {
      return this.#failed(field, shape, path ?? { prev: list, key: index, typename: undefined }, error);
    }
  }
}

function nullIn({ parentType, definition }: FieldPlan): Error {
  return new Error(`Cannot return null for non-nullable field ${parentType.name}.${definition.name}.`);
}
