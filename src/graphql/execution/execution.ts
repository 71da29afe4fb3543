import {
  defaultTypeResolver,
  type GraphQLAbstractType,
  type GraphQLError,
  type GraphQLLeafType,
  type GraphQLObjectType,
  type GraphQLResolveInfo,
  getArgumentValues,
  locatedError,
  OperationTypeNode,
} from 'graphql';
import { ColumnRows } from '../../platform/wire/column-rows.ts';
import type { WrittenJson } from '../../platform/wire/json-chunks.ts';
import { isAsItIs, isPromise } from './completed.ts';
import { type FieldPlan, type ObjectPlan, type OperationPlan, runtimeTypeOf, type Shape } from './execution-plan.ts';
import { FieldStarts } from './field-starts.ts';
import { Tallies, type Tally } from './leaf-tally.ts';
import { ListRun } from './list-run.ts';
import { RowRun, type Rows } from './row-run.ts';
import type { Pieces } from './sliced-work.ts';

type Path = GraphQLResolveInfo['path'];

/** Keys of a path, in the form that an error has. */
function keysOf(path: Path): (string | number)[] {
  const keys: (string | number)[] = [];
  for (let at: Path | undefined = path; at; at = at.prev) keys.push(at.key);
  return keys.reverse();
}

/** Approximate bytes of an error in an answer, besides its message and path. */
const errorBytes = 200;

/** The errors of an execution, without those below a path that is null because of another error. */
class CollectedErrors {
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

type AnswerPath = Path | undefined;

const pathTo = (field: FieldPlan, parent: AnswerPath): Path => ({
  prev: parent,
  key: field.key,
  typename: field.parentType.name,
});

/** The path of the field that a value belongs to, without list indexes. */
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

/** Values of one execution. */
export interface ExecutionValues {
  rootValue: unknown;
  contextValue: unknown;
  /** Coerced by their types. */
  variableValues: Record<string, unknown>;
  /** Predicted items of the fields that start in order, by their response keys; absent = all start at once. */
  inFlight?: ReadonlyMap<string, number> | undefined;
}

/** The resolver of a plain field. */
type PlainResolver = (source: unknown) => unknown;

/** Shorter lists are completed by value, which is faster for them. */
const fewRows = 4;

/**
 * Runs the fields of an operation by the GraphQL specification. A list is completed until the time slice ends, and its
 * rest in later slices. Long lists, and lists of plain rows, are written as JSON if the plan's form asks for it.
 */
export class Execution {
  readonly errors: CollectedErrors;
  /** Counts of completed values so far. */
  readonly tallies = new Tallies();
  readonly #plan: OperationPlan;
  readonly #values: ExecutionValues;
  readonly #pieces: Pieces;
  /** Arguments by field, the same for every object. */
  readonly #args: Record<string, unknown>[] = [];
  readonly #starts: FieldStarts | null;

  constructor(plan: OperationPlan, values: ExecutionValues, pieces: Pieces) {
    this.#plan = plan;
    this.#values = values;
    this.#pieces = pieces;
    this.#starts = values.inFlight ? new FieldStarts(values.inFlight, pieces) : null;
    this.errors = new CollectedErrors((bytes) => pieces.wrote(bytes));
  }

  /** The operation's own fields; those of a mutation run one after the other. */
  run(): unknown {
    const { rootValue, contextValue } = this.#values;
    const root = this.#plan.root();
    return this.#plan.operation.operation === OperationTypeNode.MUTATION
      ? this.#serialFields(root, rootValue)
      : this.#fields(root, rootValue, undefined, contextValue);
  }

  /** The source of a subscription's events, which the resolver of its root field returns. Throws a located error. */
  async source(): Promise<unknown> {
    const { rootValue, contextValue } = this.#values;
    const field = this.#plan.root().fields[0]!;
    const path = pathTo(field, undefined);
    try {
      return await field.definition.subscribe!(rootValue, this.#argsOf(field), contextValue, this.#info(field, path));
    } catch (error) {
      throw this.errors.located(error, field, path);
    }
  }

  /** Completes each field, with everything below it, before the next begins. */
  async #serialFields({ fields, hasProto }: ObjectPlan, source: unknown): Promise<Record<string, unknown>> {
    const found: Record<string, unknown> = hasProto ? Object.create(null) : {};
    for (const field of fields) {
      const value = await this.#pieces.later(() => this.#field(field, source, undefined, this.#values.contextValue));
      if (value !== null || !field.isOmitted) found[field.key] = value;
    }
    return found;
  }

  /** The fields of an object, or a promise of them. */
  #fields({ fields, hasProto }: ObjectPlan, source: unknown, path: AnswerPath, context: unknown): unknown {
    const found: Record<string, unknown> = hasProto ? Object.create(null) : {};
    for (let i = 0; i < fields.length; i++) {
      const field = fields[i]!;
      const value = this.#field(field, source, path, context);
      if (value instanceof Promise)
        return this.#awaitedFields(fields, i, { found, first: value, source, path, context });
      if (value !== null || !field.isOmitted) found[field.key] = value;
    }
    return found;
  }

  /** The fields of an object. The field at `start` is the first that is a promise; those before it are complete. */
  #awaitedFields(
    fields: readonly FieldPlan[],
    start: number,
    {
      found,
      first,
      source,
      path,
      context,
    }: { found: Record<string, unknown>; first: Promise<unknown>; source: unknown; path: AnswerPath; context: unknown },
  ): Promise<unknown> {
    const values: unknown[] = [first];
    try {
      for (let i = start + 1; i < fields.length; i++) values.push(this.#field(fields[i]!, source, path, context));
    } catch (error) {
      // Other promises may reject too; their errors are ignored.
      const fail = () => {
        throw error;
      };
      return Promise.all(values).then(fail, fail);
    }
    const add = (all: readonly unknown[]) => {
      for (let i = 0; i < all.length; i++) {
        const { key, isOmitted } = fields[start + i]!;
        if (all[i] !== null || !isOmitted) found[key] = all[i];
      }
      return found;
    };
    return values.length === 1 ? first.then((found) => add([found])) : Promise.all(values).then(add);
  }

  #field(field: FieldPlan, source: unknown, parent: AnswerPath, context: unknown): unknown {
    const { startKeys, isPlain } = field;
    return this.#starts === null || startKeys === null || isPlain
      ? this.#started(field, source, parent, context)
      : this.#starts.start(startKeys, () => this.#started(field, source, parent, context));
  }

  #started(field: FieldPlan, source: unknown, parent: AnswerPath, context: unknown): unknown {
    const { shape, resolve, isPlain } = field;
    // The path of a plain field is built only when it is used.
    let path: Path | undefined = isPlain ? undefined : pathTo(field, parent);
    try {
      let value: unknown;
      if (resolve && isPlain) value = (resolve as PlainResolver)(source);
      else if (resolve) value = this.#resolved(field, resolve, source, path!, context);
      else value = this.#property(field, source, parent, context);
      if (shape.kind === 'leaf' && isAsItIs(shape.type, value)) return this.#counted(field, value);
      if (isPromise(value)) {
        path ??= pathTo(field, parent);
        return this.#awaited(field, shape, path, value, context);
      }
      const done = this.#complete(field, shape, path, value, context);
      return done instanceof Promise ? this.#caught(field, shape, path!, done) : done;
    } catch (error) {
      return this.#failed(field, shape, path ?? pathTo(field, parent), error);
    }
  }

  /** The result of a field's resolver; equal fields that start in order run once. */
  #resolved(
    field: FieldPlan,
    resolve: NonNullable<FieldPlan['resolve']>,
    source: unknown,
    path: Path,
    context: unknown,
  ): unknown {
    const args = this.#argsOf(field);
    const run = () => resolve(source, args, context, this.#info(field, path));
    return this.#starts === null || field.startKeys === null
      ? run()
      : this.#starts.once(field.definition, args, context, run);
  }

  /** A field's arguments, the same for every object. Throws if they do not fit their types. */
  #argsOf({ definition, nodes, index }: FieldPlan): Record<string, unknown> {
    let args = this.#args[index];
    if (!args) {
      args = getArgumentValues(definition, nodes[0]!, this.#values.variableValues);
      this.#args[index] = args;
    }
    return args;
  }

  #info({ definition, nodes, parentType }: FieldPlan, path: Path): GraphQLResolveInfo {
    const { schema, fragments, operation } = this.#plan;
    const { rootValue, variableValues } = this.#values;
    return {
      fieldName: definition.name,
      fieldNodes: nodes,
      returnType: definition.type,
      parentType,
      path,
      schema,
      fragments,
      rootValue,
      operation,
      variableValues,
    };
  }

  /** Default resolver of GraphQL: the property of the field's name, called if it is a function. */
  #property(field: FieldPlan, source: unknown, parent: AnswerPath, context: unknown): unknown {
    if ((typeof source !== 'object' && typeof source !== 'function') || source === null) return undefined;
    const { name } = field;
    const value = (source as Record<string, unknown>)[name];
    if (typeof value !== 'function') {
      // Invalid arguments are an error even if no resolver reads them.
      if (field.definition.args.length > 0) this.#argsOf(field);
      return value;
    }
    const call = (source as Record<string, (...args: unknown[]) => unknown>)[name]!;
    return call.call(source, this.#argsOf(field), context, this.#info(field, pathTo(field, parent)));
  }

  /** Completes a value when it comes: at once while the piece lasts, else in a later one. */
  #awaited(field: FieldPlan, shape: Shape, path: Path, value: Promise<unknown>, context: unknown): Promise<unknown> {
    const complete = (found: unknown): unknown => {
      try {
        const done = this.#pieces.mayGoOn()
          ? this.#complete(field, shape, path, found, context)
          : this.#pieces.later(() => this.#complete(field, shape, path, found, context), depthOf(path));
        return done instanceof Promise ? this.#caught(field, shape, path, done) : done;
      } catch (error) {
        return this.#failed(field, shape, path, error);
      }
    };
    return Promise.resolve(value).then(complete, (error: unknown) => this.#failed(field, shape, path, error));
  }

  #caught(field: FieldPlan, shape: Shape, path: Path, done: Promise<unknown>): Promise<unknown> {
    return done.then(undefined, (error: unknown) => this.#failed(field, shape, path, error));
  }

  /** A value that could not be completed becomes null, or fails its parent if it is non-null. */
  #failed(field: FieldPlan, { nonNull }: Shape, path: Path, thrown: unknown): null {
    const error = this.errors.located(thrown, field, path);
    if (nonNull) throw error;
    this.errors.add(error, path);
    return null;
  }

  /** `path` is absent for leaves alone. */
  #complete(field: FieldPlan, shape: Shape, path: Path | undefined, value: unknown, context: unknown): unknown {
    if (value instanceof Error) throw value;
    if (value === null || value === undefined) {
      if (shape.nonNull) throw nullIn(field);
      return null;
    }
    // Items are counted with their list.
    if (shape === field.shape && shape.kind !== 'list') this.tallies.at(field.position).count++;
    switch (shape.kind) {
      case 'leaf':
        return this.#leaf(field, shape.type, value);
      case 'object':
        return this.#object(field, shape.type, path!, value, context);
      case 'list':
        return this.#list(field, shape.item, path!, value, context);
      case 'abstract':
        return this.#abstract(field, shape.type, path!, value, context);
    }
  }

  /** Counts a field's value that needs no serialization. */
  #counted({ position }: FieldPlan, value: unknown): unknown {
    const tally = this.tallies.at(position);
    tally.count++;
    if (typeof value === 'string') tally.characters += value.length;
    this.#pieces.leaves++;
    return value;
  }

  #leaf({ position }: FieldPlan, type: GraphQLLeafType, value: unknown): unknown {
    const serialized = type.serialize(value) as unknown;
    if (serialized === null || serialized === undefined)
      throw new Error(`Expected ${type.name} to serialize to a value that is not null, but it became ${serialized}.`);
    this.#pieces.leaves++;
    if (typeof serialized === 'string') this.tallies.at(position).characters += serialized.length;
    return serialized;
  }

  #object(field: FieldPlan, type: GraphQLObjectType, path: Path, value: unknown, context: unknown): unknown {
    const fields = field.fieldsOf(type);
    const { contextBelow } = field;
    const below = contextBelow ? contextBelow(value as never, this.#argsOf(field), context) : context;
    if (!type.isTypeOf) return this.#fields(fields, value, path, below);
    const is = type.isTypeOf(value, context, this.#info(field, fieldPath(path)));
    const checked = (isOf: boolean): unknown => {
      if (!isOf) throw new Error(`Expected a value of type "${type.name}".`);
      return this.#fields(fields, value, path, below);
    };
    return isPromise<boolean>(is) ? Promise.resolve(is).then(checked) : checked(is);
  }

  #abstract(field: FieldPlan, type: GraphQLAbstractType, path: Path, value: unknown, context: unknown): unknown {
    const resolveType = type.resolveType ?? defaultTypeResolver;
    const name = resolveType(value, context, this.#info(field, fieldPath(path)), type);
    const { schema } = this.#plan;
    const completed = (found: unknown) =>
      this.#object(field, runtimeTypeOf(schema, type, field, found), path, value, context);
    return isPromise(name) ? Promise.resolve(name).then(completed) : completed(name);
  }

  #list(field: FieldPlan, item: Shape, path: Path, value: unknown, context: unknown): unknown {
    if (typeof value !== 'object' || !(Symbol.iterator in (value as object)))
      throw new Error(
        `Expected Iterable, but did not find one for field "${field.parentType.name}.${field.definition.name}".`,
      );
    const isRows = Array.isArray(value) || value instanceof ColumnRows;
    return isRows && this.#plan.form.isWritten && item.kind === 'object'
      ? this.#rows(field, item, path, value, context)
      : this.#items(field, item, path, value as Iterable<unknown>, context);
  }

  /** A list of objects: written as rows if they are plain, else completed by value, which finds the errors in it. */
  #rows(field: FieldPlan, item: Shape & { kind: 'object' }, path: Path, rows: Rows, context: unknown): unknown {
    const plan = field.fieldsOf(item.type);
    const count = rows instanceof ColumnRows ? rows.count : rows.length;
    const byValue = () => this.#items(field, item, path, rows, context);
    if (!plan.isRow || item.type.isTypeOf || count < fewRows) return byValue();
    const done = (written: WrittenJson, run: RowRun) => {
      this.#countRows(field, item, plan, run);
      return written;
    };
    try {
      const run = new RowRun(
        { rows, columns: plan.columns, mayBeNull: !item.nonNull, depth: depthOf(path) },
        this.#pieces,
      );
      const written = run.run();
      return written instanceof Promise ? written.then((all) => done(all, run), byValue) : done(written, run);
    } catch {
      return byValue();
    }
  }

  #countRows(field: FieldPlan, item: Shape, plan: ObjectPlan, { count, characters }: RowRun): void {
    if (item === itemOf(field)) {
      const tally = this.tallies.at(field.position);
      tally.items += count;
      tally.count += count;
    }
    for (const {
      index,
      field: { position },
    } of plan.columns) {
      const tally = this.tallies.at(position);
      tally.count += count;
      tally.characters += characters[index]!;
    }
  }

  #items(field: FieldPlan, item: Shape, path: Path, values: Iterable<unknown>, context: unknown): unknown {
    const tally = item === itemOf(field) ? this.tallies.at(field.position) : null;
    const complete =
      item.kind === 'leaf'
        ? (value: unknown, index: number) => {
            if (!tally || !isAsItIs(item.type, value))
              return this.#item(field, item, { path, index, tally, context }, value);
            tally.items++;
            return this.#counted(field, value);
          }
        : (value: unknown, index: number) => this.#item(field, item, { path, index, tally, context }, value);
    const list = {
      items: values,
      complete,
      // Leaves are fast: reading the clock for each would take longer.
      itemsALook: item.kind === 'leaf' ? 64 : 1,
      depth: depthOf(path),
      isWritten: this.#plan.form.isWritten,
    };
    return new ListRun(list, this.#pieces).run();
  }

  /** An item of a list, counted if the list has a tally. */
  #item(
    field: FieldPlan,
    shape: Shape,
    { path: list, index, tally, context }: { path: Path; index: number; tally: Tally | null; context: unknown },
    value: unknown,
  ): unknown {
    let path: Path | undefined = shape.kind === 'leaf' ? undefined : { prev: list, key: index, typename: undefined };
    if (tally) {
      tally.items++;
      tally.count++;
    }
    try {
      if (isPromise(value)) {
        path ??= { prev: list, key: index, typename: undefined };
        return this.#awaited(field, shape, path, value, context);
      }
      const done = this.#complete(field, shape, path, value, context);
      return done instanceof Promise ? this.#caught(field, shape, path!, done) : done;
    } catch (error) {
      return this.#failed(field, shape, path ?? { prev: list, key: index, typename: undefined }, error);
    }
  }
}

/** The item shape of a list field; null if the field is not a list. */
const itemOf = ({ shape }: FieldPlan): Shape | null => (shape.kind === 'list' ? shape.item : null);

function nullIn({ parentType, definition }: FieldPlan): Error {
  return new Error(`Cannot return null for non-nullable field ${parentType.name}.${definition.name}.`);
}
