import {
  type FieldNode,
  type FragmentDefinitionNode,
  type GraphQLAbstractType,
  GraphQLError,
  type GraphQLField,
  type GraphQLFieldResolver,
  GraphQLIncludeDirective,
  type GraphQLLeafType,
  type GraphQLObjectType,
  type GraphQLOutputType,
  type GraphQLSchema,
  GraphQLSkipDirective,
  getDirectiveValues,
  getNullableType,
  isAbstractType,
  isLeafType,
  isListType,
  isNonNullType,
  isObjectType,
  Kind,
  type OperationDefinitionNode,
  OperationTypeNode,
  SchemaMetaFieldDef,
  type SelectionNode,
  type SelectionSetNode,
  TypeMetaFieldDef,
  TypeNameMetaFieldDef,
  typeFromAST,
} from 'graphql';
import { responseKey } from './document.ts';
import { Position } from './leaf-tally.ts';
import { type Column, columnOf } from './row-run.ts';

/** Form of an operation's data. */
export interface AnswerForm {
  /** True if long lists, and lists of plain rows, are written as JSON within the tree of values. */
  isWritten: boolean;
  /** Response keys that are omitted if null. */
  absent: ReadonlySet<string>;
}

/** Wrappers and named type of an output type. */
export type Shape = { nonNull: boolean } & (
  | { kind: 'leaf'; type: GraphQLLeafType }
  | { kind: 'list'; item: Shape }
  | { kind: 'abstract'; type: GraphQLAbstractType }
  | { kind: 'object'; type: GraphQLObjectType }
);

const shapes = new WeakMap<GraphQLOutputType, Shape>();

/** Shape of a type, computed once. */
function shapeOf(type: GraphQLOutputType): Shape {
  const shape = shapes.get(type) ?? madeShape(type);
  shapes.set(type, shape);
  return shape;
}

function madeShape(type: GraphQLOutputType): Shape {
  if (isNonNullType(type)) return { ...shapeOf(type.ofType), nonNull: true };
  if (isListType(type)) return { nonNull: false, kind: 'list', item: shapeOf(type.ofType) };
  if (isLeafType(type)) return { nonNull: false, kind: 'leaf', type };
  if (isAbstractType(type)) return { nonNull: false, kind: 'abstract', type };
  return { nonNull: false, kind: 'object', type };
}

/** Maximum number of characters of a row's keys for rows that are written by columns. */
const mostKeyCharacters = 16_000;

/** The fields that an operation selects of an object. */
export class ObjectPlan {
  readonly fields: readonly FieldPlan[];
  /** True if one of its response keys is `__proto__`. */
  readonly hasProto: boolean;
  /** True if it has plain values only: lists of such objects are written as rows. */
  readonly isRow: boolean;

  constructor(fields: readonly FieldPlan[]) {
    this.fields = fields;
    this.hasProto = fields.some(({ key }) => key === '__proto__');
    const keyCharacters = fields.reduce((sum, { key }) => sum + key.length, 0);
    this.isRow = keyCharacters <= mostKeyCharacters && fields.every(({ isPlain }) => isPlain);
  }

  #columns: readonly Column[] | null = null;

  /** The fields as columns of rows. */
  get columns(): readonly Column[] {
    this.#columns ??= this.fields.map(columnOf);
    return this.#columns;
  }
}

/** Makes the context of the fields below a field from its value, its arguments and its context. */
export type ContextBelow = (value: never, args: Record<string, unknown>, context: unknown) => unknown;

/** True for a field whose own fields start like those of the root: in their order, few at a time. */
export function startsInOrder({ extensions }: { extensions: object }): boolean {
  return (extensions as { startsInOrder?: boolean }).startsInOrder === true;
}

type Resolver = GraphQLFieldResolver<unknown, unknown>;
type FieldOfPlan = Pick<FieldPlan, 'parentType' | 'definition' | 'nodes' | 'position' | 'isBelowContext' | 'startKeys'>;

/** Where the fields of an object are collected. */
interface Collecting extends Pick<FieldPlan, 'position' | 'isBelowContext'> {
  /** Prefix of the response keys of fields that start in order; null = they start with their object. */
  startsBelow: string | null;
}

/** A field's resolver; below a field with a context of its own, the one that depends on it, where there is one. */
function resolverOf({ resolve, extensions }: GraphQLField<unknown, unknown>, isBelowContext: boolean) {
  const { resolveBelowContext } = extensions as { resolveBelowContext?: Resolver };
  return isBelowContext && resolveBelowContext ? resolveBelowContext : resolve;
}

/** A field of an object as the operation asks for it: all selections of one response key. */
export class FieldPlan {
  readonly plan: OperationPlan;
  readonly parentType: GraphQLObjectType;
  readonly definition: GraphQLField<unknown, unknown>;
  readonly nodes: readonly FieldNode[];
  readonly key: string;
  /** The property that holds its value if it has no resolver. */
  readonly name: string;
  readonly shape: Shape;
  readonly resolve: Resolver | undefined;
  readonly position: Position;
  /** Its index among the fields of its plan. */
  readonly index: number;
  /** True if a field above makes a context of its own. */
  readonly isBelowContext: boolean;
  /** Makes the context of the fields below; undefined = it is the field's own. */
  readonly contextBelow: ContextBelow | undefined;
  /** True if it is a value that its object has, or that is computed from the object alone. */
  readonly isPlain: boolean;
  /** Its response keys from the root if it starts in the order of such fields; null = with its object. */
  readonly startKeys: string | null;
  /** True if it is omitted when null. */
  readonly isOmitted: boolean;
  /** The last object type asked for, and its fields. Usually it is the only one. */
  #type: GraphQLObjectType | null = null;
  #fields: ObjectPlan | null = null;
  #objects: Map<GraphQLObjectType, ObjectPlan> | null = null;

  constructor(
    plan: OperationPlan,
    { parentType, definition, nodes, position, isBelowContext, startKeys }: FieldOfPlan,
  ) {
    this.plan = plan;
    this.startKeys = startKeys;
    this.isBelowContext = isBelowContext;
    this.parentType = parentType;
    this.definition = definition;
    this.nodes = nodes;
    this.position = position;
    this.key = responseKey(nodes[0]!);
    this.name = definition.name;
    this.shape = shapeOf(definition.type);
    // The executor of the language answers it so too.
    this.resolve = definition === TypeNameMetaFieldDef ? () => parentType.name : resolverOf(definition, isBelowContext);
    this.index = plan.fieldCount++;
    this.contextBelow = definition.extensions.contextBelow as ContextBelow | undefined;
    const isLeaf = isLeafType(getNullableType(definition.type)) && definition.args.length === 0;
    this.isPlain = isLeaf && (this.resolve === undefined || this.resolve.length <= 1);
    this.isOmitted = plan.form.absent.has(this.key);
  }

  /** The fields selected of an object that is the field's value, or an item of it. */
  fieldsOf(type: GraphQLObjectType): ObjectPlan {
    if (this.#type === type) return this.#fields!;
    this.#objects ??= new Map();
    let fields = this.#objects.get(type);
    if (!fields) {
      const sets = this.nodes.flatMap(({ selectionSet }) => selectionSet ?? []);
      const isBelowContext = this.isBelowContext || this.contextBelow !== undefined;
      const startsBelow = this.startKeys !== null && startsInOrder(this.definition) ? `${this.startKeys}.` : null;
      fields = this.plan.collect(type, sets, { position: this.position, isBelowContext, startsBelow });
      this.#objects.set(type, fields);
    }
    this.#type = type;
    this.#fields = fields;
    return fields;
  }
}

/** True if the directives of a selection include it. */
function isIncluded(node: SelectionNode, variableValues: Record<string, unknown>): boolean {
  if (!node.directives?.length) return true;
  if (getDirectiveValues(GraphQLSkipDirective, node, variableValues)?.if === true) return false;
  return getDirectiveValues(GraphQLIncludeDirective, node, variableValues)?.if !== false;
}

/**
 * The fields that an operation selects of each object type, with fragments expanded and skipped fields omitted. It
 * depends on no variables but those of `@skip` and `@include`.
 */
export class OperationPlan {
  readonly schema: GraphQLSchema;
  readonly operation: OperationDefinitionNode;
  readonly fragments: Record<string, FragmentDefinitionNode>;
  readonly form: AnswerForm;
  /** Position of the root. */
  readonly position = new Position();
  /** Number of its fields asked for so far. */
  fieldCount = 0;
  readonly #conditions: Record<string, unknown>;
  #root: ObjectPlan | null = null;

  /** @param conditions The variables of `@skip` and `@include`. */
  constructor(
    { schema, operation, fragments, form }: Pick<OperationPlan, 'schema' | 'operation' | 'fragments' | 'form'>,
    conditions: Record<string, unknown>,
  ) {
    this.schema = schema;
    this.operation = operation;
    this.fragments = fragments;
    this.form = form;
    this.#conditions = conditions;
  }

  /** The operation's own fields. Throws if the schema has no operations of its kind. */
  root(): ObjectPlan {
    const { schema, operation } = this;
    this.#root ??= this.collect(schema.getRootType(operation.operation)!, [operation.selectionSet], {
      position: this.position,
      isBelowContext: false,
      startsBelow: operation.operation === OperationTypeNode.QUERY ? '' : null,
    });
    return this.#root;
  }

  collect(
    type: GraphQLObjectType,
    sets: readonly SelectionSetNode[],
    { position, isBelowContext, startsBelow }: Collecting,
  ): ObjectPlan {
    const grouped = new Map<string, FieldNode[]>();
    const visited = new Set<string>();
    for (const set of sets) this.#visit(type, set, grouped, visited);
    const fields = [...grouped].flatMap(([key, nodes]) => {
      const definition = fieldDefinition(this.schema, type, nodes[0]!.name.value);
      if (!definition) return [];
      const startKeys = startsBelow === null ? null : `${startsBelow}${key}`;
      const at = { position: position.at(key), isBelowContext, startKeys };
      return [new FieldPlan(this, { parentType: type, definition, nodes, ...at })];
    });
    return new ObjectPlan(fields);
  }

  #visit(
    type: GraphQLObjectType,
    { selections }: SelectionSetNode,
    grouped: Map<string, FieldNode[]>,
    visited: Set<string>,
  ): void {
    for (const node of selections) {
      if (!isIncluded(node, this.#conditions)) continue;
      if (node.kind === Kind.FIELD) {
        const key = responseKey(node);
        const nodes = grouped.get(key);
        if (nodes) nodes.push(node);
        else grouped.set(key, [node]);
        continue;
      }
      let fragment:
        | { typeCondition?: FragmentDefinitionNode['typeCondition']; selectionSet: SelectionSetNode }
        | undefined;
      if (node.kind === Kind.FRAGMENT_SPREAD) {
        if (visited.has(node.name.value)) continue;
        visited.add(node.name.value);
        fragment = this.fragments[node.name.value];
      } else fragment = node as never;
      if (fragment && this.#applies(type, fragment.typeCondition))
        this.#visit(type, fragment.selectionSet, grouped, visited);
    }
  }

  #applies(type: GraphQLObjectType, condition: FragmentDefinitionNode['typeCondition'] | undefined): boolean {
    if (!condition) return true;
    const { schema } = this;
    const conditional = typeFromAST(schema, condition);
    return conditional === type || (isAbstractType(conditional) && schema.isSubType(conditional, type));
  }
}

function fieldDefinition(
  schema: GraphQLSchema,
  type: GraphQLObjectType,
  name: string,
): GraphQLField<unknown, unknown> | undefined {
  if (name === TypeNameMetaFieldDef.name) return TypeNameMetaFieldDef;
  if (type === schema.getQueryType()) {
    if (name === SchemaMetaFieldDef.name) return SchemaMetaFieldDef;
    if (name === TypeMetaFieldDef.name) return TypeMetaFieldDef;
  }
  return type.getFields()[name];
}

/** The object type of a value of an abstract type, as its resolver returned it. */
export function runtimeTypeOf(
  schema: GraphQLSchema,
  abstract: GraphQLAbstractType,
  { definition, parentType, nodes }: FieldPlan,
  name: unknown,
): GraphQLObjectType {
  const type = typeof name === 'string' ? schema.getType(name) : undefined;
  if (!isObjectType(type)) {
    const at = `for field "${parentType.name}.${definition.name}"`;
    throw new GraphQLError(`Abstract type "${abstract.name}" must resolve to an Object type at runtime ${at}.`, {
      nodes,
    });
  }
  if (schema.isSubType(abstract, type)) return type;
  throw new GraphQLError(`Runtime Object type "${type.name}" is not a possible type for "${abstract.name}".`, {
    nodes,
  });
}
