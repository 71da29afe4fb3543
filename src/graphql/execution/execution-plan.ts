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
  type GraphQLResolveInfo,
  type GraphQLSchema,
  GraphQLSkipDirective,
  getArgumentValues,
  getDirectiveValues,
  isAbstractType,
  isLeafType,
  isListType,
  isNonNullType,
  isObjectType,
  Kind,
  type OperationDefinitionNode,
  SchemaMetaFieldDef,
  type SelectionNode,
  type SelectionSetNode,
  TypeMetaFieldDef,
  TypeNameMetaFieldDef,
  typeFromAST,
} from 'graphql';
import { responseKey } from './document.ts';
import { Tally } from './leaf-tally.ts';

/** An operation to run: validated, with its variables. */
export interface Operation {
  schema: GraphQLSchema;
  operation: OperationDefinitionNode;
  fragments: Record<string, FragmentDefinitionNode>;
  variableValues: Record<string, unknown>;
  rootValue: unknown;
}

/** Textual form of a type's values. */
export type Shape = { nonNull: boolean } & (
  | { kind: 'leaf'; type: GraphQLLeafType }
  | { kind: 'list'; item: Shape }
  | { kind: 'abstract'; type: GraphQLAbstractType }
  | { kind: 'object'; type: GraphQLObjectType }
);

function shapeOf(type: GraphQLOutputType): Shape {
  if (isNonNullType(type)) return { ...shapeOf(type.ofType), nonNull: true };
  if (isListType(type)) return { nonNull: false, kind: 'list', item: shapeOf(type.ofType) };
  if (isLeafType(type)) return { nonNull: false, kind: 'leaf', type };
  if (isAbstractType(type)) return { nonNull: false, kind: 'abstract', type };
  return { nonNull: false, kind: 'object', type };
}

/** Keys of an object that engines keep quick. */
const mostKeys = 16;

/** The fields that an operation asks of an object. */
export interface ObjectPlan {
  fields: readonly FieldPlan[];
  /** Its JSON is written at once. */
  isWide: boolean;
}

/** A field of an object as the operation asks for it: all selections of one response key. */
export class FieldPlan {
  readonly key: string;
  /** The key as it is written. */
  readonly keyText: string;
  readonly shape: Shape;
  readonly resolve: GraphQLFieldResolver<unknown, unknown> | undefined;
  readonly tally: Tally;
  readonly #objects = new Map<GraphQLObjectType, ObjectPlan>();
  #args: Record<string, unknown> | undefined;

  readonly plans: Plans;
  readonly parentType: GraphQLObjectType;
  readonly definition: GraphQLField<unknown, unknown>;
  readonly nodes: readonly FieldNode[];

  constructor(
    plans: Plans,
    parentType: GraphQLObjectType,
    definition: GraphQLField<unknown, unknown>,
    nodes: readonly FieldNode[],
    key: string,
    tally: Tally,
  ) {
    this.tally = tally;
    this.plans = plans;
    this.parentType = parentType;
    this.definition = definition;
    this.nodes = nodes;

    this.key = key;
    this.keyText = `${JSON.stringify(key)}:`;
    this.shape = shapeOf(definition.type);
    this.resolve = definition.resolve;
  }

  /** The field's arguments, the same for every object; throws when they do not fit. */
  args(): Record<string, unknown> {
    this.#args ??= getArgumentValues(this.definition, this.nodes[0]!, this.plans.operation.variableValues);
    return this.#args;
  }

  info(path: GraphQLResolveInfo['path']): GraphQLResolveInfo {
    const { schema, fragments, rootValue, operation, variableValues } = this.plans.operation;
    return {
      fieldName: this.definition.name,
      fieldNodes: this.nodes,
      returnType: this.definition.type,
      parentType: this.parentType,
      path,
      schema,
      fragments,
      rootValue,
      operation,
      variableValues,
    };
  }

  /** The fields asked of an object that is the field's value, or an item of it. */
  fieldsOf(type: GraphQLObjectType): ObjectPlan {
    let fields = this.#objects.get(type);
    if (!fields) {
      const sets = this.nodes.flatMap(({ selectionSet }) => selectionSet ?? []);
      fields = this.plans.collect(type, sets, this.tally);
      this.#objects.set(type, fields);
    }
    return fields;
  }
}

/** True if its directives leave a selection in the document. */
export function isIncluded(node: SelectionNode, variableValues: Record<string, unknown>): boolean {
  if (!node.directives?.length) return true;
  if (getDirectiveValues(GraphQLSkipDirective, node, variableValues)?.if === true) return false;
  return getDirectiveValues(GraphQLIncludeDirective, node, variableValues)?.if !== false;
}

/** Finds the fields that an operation asks of each object type: fragments expanded, what is skipped omitted. */
export class Plans {
  readonly operation: Operation;
  /** Counts of what was completed so far. */
  readonly tally = new Tally();

  constructor(operation: Operation) {
    this.operation = operation;
  }

  /** The operation's own fields. */
  root(type: GraphQLObjectType): ObjectPlan {
    return this.collect(type, [this.operation.operation.selectionSet], this.tally);
  }

  collect(type: GraphQLObjectType, sets: readonly SelectionSetNode[], tally: Tally): ObjectPlan {
    const grouped = new Map<string, FieldNode[]>();
    const visited = new Set<string>();
    for (const set of sets) this.#visit(type, set, grouped, visited);
    const fields = [...grouped].flatMap(([key, nodes]) => {
      const definition = fieldDefinition(this.operation.schema, type, nodes[0]!.name.value);
      return definition ? [new FieldPlan(this, type, definition, nodes, key, tally.at(key))] : [];
    });
    // A key that objects understand otherwise is only ever written.
    return { fields, isWide: fields.length > mostKeys || grouped.has('__proto__') };
  }

  #visit(
    type: GraphQLObjectType,
    { selections }: SelectionSetNode,
    grouped: Map<string, FieldNode[]>,
    visited: Set<string>,
  ): void {
    for (const node of selections) {
      if (!isIncluded(node, this.operation.variableValues)) continue;
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
        fragment = this.operation.fragments[node.name.value];
      } else fragment = node as never;
      if (fragment && this.#applies(type, fragment.typeCondition))
        this.#visit(type, fragment.selectionSet, grouped, visited);
    }
  }

  #applies(type: GraphQLObjectType, condition: FragmentDefinitionNode['typeCondition'] | undefined): boolean {
    if (!condition) return true;
    const { schema } = this.operation;
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

/** The object type that an abstract type's value is of, from what its resolver said. */
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
