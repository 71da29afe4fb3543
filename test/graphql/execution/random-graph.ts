import fc from 'fast-check';
import { buildSchema, type GraphQLResolveInfo, type GraphQLSchema, type GraphQLTypeResolver } from 'graphql';

/** A schema of everything a field may be, whose resolvers give what the seed and the place make of it. */
export function randomGraph(seed: number): GraphQLSchema {
  const schema = buildSchema(`
    interface Named { name: String! maybe: Int next: Node }
    union Either = Leafy | Branch
    type Leafy implements Named { name: String! maybe: Int next: Node flag: Boolean! ratio: Float kind: Kind }
    type Branch implements Named { name: String! maybe: Int next: Node items: [Node!]! loose: [Node] deep: [[Int!]]! }
    enum Kind { ONE TWO }
    type Node {
      id: ID! count(add: Int = 1, to: Int): Int text: String! required: Int! kind: Kind
      self: Node always: Node! list: [Node!] strict: [Node!]! loose: [Node]! numbers: [Float!]! lists: [[String]!]
      named: Named mustName: Named! either: Either eithers: [Either!]
    }
    type Query { node: Node always: Node! list: [Node!]! named: [Named] either: Either count(add: Int = 1, to: Int): Int }
  `);
  for (const type of Object.values(schema.getTypeMap())) {
    if (type.name.startsWith('__')) continue;
    if ('getFields' in type && 'getInterfaces' in type && !('resolveType' in type)) {
      for (const field of Object.values(type.getFields()))
        if ('args' in field) field.resolve = (_source, args, _context, info) => valueAt(seed, info, args);
    }
    if ('resolveType' in type) type.resolveType = typeAt(seed);
  }
  return schema;
}

/** A number made of the seed and a text. */
function hash(seed: number, text: string): number {
  let found = seed | 0;
  for (let i = 0; i < text.length; i++) found = Math.imul(found ^ text.charCodeAt(i), 0x5bd1e995) ^ (found >>> 13);
  return (found ^ (found >>> 15)) >>> 0;
}

function placeOf(info: GraphQLResolveInfo): string {
  const keys: (string | number)[] = [];
  for (let at: GraphQLResolveInfo['path'] | undefined = info.path; at; at = at.prev) keys.push(at.key);
  return keys.reverse().join('.');
}

const typeAt =
  (seed: number): GraphQLTypeResolver<unknown, unknown> =>
  (_value, _context, info, type) => {
    const chance = hash(seed, `type ${type.name} ${placeOf(info)}`) % 12;
    const name = chance === 0 ? 'Node' : chance < 7 ? 'Leafy' : 'Branch';
    return chance % 3 === 0 ? Promise.resolve(name) : name;
  };

/** Value of a resolver: mostly of the right type, now and then null, an error or a misfit; some of them later. */
function valueAt(seed: number, info: GraphQLResolveInfo, args: object): unknown {
  const place = `${placeOf(info)} ${JSON.stringify(args)}`;
  const chance = hash(seed, place) % 100;
  const type = String(info.returnType);
  if (chance < 3) throw new Error(`thrown at ${place}`);
  if (chance < 5) return Promise.reject(new Error(`rejected at ${place}`));
  if (chance < 7) return new Error(`returned at ${place}`);
  const value = chance < 12 ? null : fitting(type.replace(/!$/, ''), seed, place);
  return chance % 4 === 0 ? later(value, chance) : value;
}

/** In a promise, or, as what waits for the network comes, in a while. */
function later<T>(value: T, chance: number): Promise<T> {
  if (chance % 8 === 0) return Promise.resolve(value);
  return new Promise((resolve) => setImmediate(() => resolve(value)));
}

function fitting(type: string, seed: number, place: string): unknown {
  const chance = hash(seed, `value ${place}`);
  if (type.startsWith('[')) {
    const item = type.slice(1, -1);
    if (chance % 40 === 0) return 'no list';
    const items = Array.from({ length: chance % 5 }, (_, i) => {
      const at = `${place}.${i}`;
      const luck = hash(seed, at) % 30;
      if (luck === 0) return Promise.reject(new Error(`rejected at ${at}`));
      if (luck === 1) return new Error(`returned at ${at}`);
      const value = luck === 2 ? null : fitting(item.replace(/!$/, ''), seed, at);
      return luck % 5 === 0 ? later(value, luck) : value;
    });
    for (const item of items) if (item instanceof Promise) item.catch(() => {});
    return chance % 3 === 0 ? new Set(items) : items;
  }
  switch (type) {
    case 'Int':
      return chance % 25 === 0 ? 1.5 : chance % 1000;
    case 'Float':
      return chance % 25 === 0 ? 'no number' : [chance / 7, -0, 1e21, 5e-324, -chance / 1e9][chance % 5];
    case 'Boolean':
      return chance % 2 === 0;
    case 'Kind':
      return ['ONE', 'TWO', 'THREE'][chance % 3];
    case 'ID':
    case 'String':
      return [`text ${chance}`, 'quoted "\\\n\u2028 \ud800', 'ümläut 🎈', ''][chance % 4];
    default:
      return { place };
  }
}

const leaves: Record<string, readonly string[]> = {
  Node: [
    'id',
    'count',
    'count(add: 3)',
    'count(to: $given)',
    'count(add: $unset)',
    'text',
    'required',
    'kind',
    'numbers',
    'lists',
  ],
  Leafy: ['name', 'maybe', 'flag', 'ratio', 'kind'],
  Branch: ['name', 'maybe', 'deep'],
  Named: ['name', 'maybe'],
  Either: [],
  Query: ['count', 'count(to: $given)'],
};
const objects: Record<string, Record<string, string>> = {
  Node: {
    self: 'Node',
    always: 'Node',
    list: 'Node',
    strict: 'Node',
    loose: 'Node',
    named: 'Named',
    mustName: 'Named',
    either: 'Either',
    eithers: 'Either',
  },
  Leafy: { next: 'Node' },
  Branch: { next: 'Node', items: 'Node', loose: 'Node' },
  Named: { next: 'Node' },
  Either: {},
  Query: { node: 'Node', always: 'Node', list: 'Node', named: 'Named', either: 'Either' },
};
/** Type conditions that may stand in a selection of a type. */
const conditions: Record<string, readonly string[]> = {
  Node: ['Node'],
  Leafy: ['Leafy', 'Named'],
  Branch: ['Branch', 'Named'],
  Named: ['Leafy', 'Branch', 'Named'],
  Either: ['Leafy', 'Branch', 'Named'],
  Query: ['Query'],
};

const directive = fc.constantFrom(
  '',
  '',
  '',
  '',
  '@include(if: $yes)',
  '@include(if: $no)',
  '@skip(if: $yes)',
  '@skip(if: $no)',
);

function selections(type: string, depth: number): fc.Arbitrary<string> {
  const selection: fc.Arbitrary<string>[] = [
    fc.tuple(fc.constant('__typename'), directive).map((parts) => parts.join(' ')),
  ];
  // The alias says which field it is, or two of one name could not be merged.
  for (const leaf of leaves[type]!) {
    const alias = leaf.replace(/\W+/g, '_');
    const named = fc.constantFrom(...(leaf.includes('(') ? [`${alias}: `] : ['', `also_${alias}: `]));
    selection.push(fc.tuple(named, directive).map(([name, what]) => `${name}${leaf} ${what}`));
  }
  if (depth > 0) {
    for (const [field, of] of Object.entries(objects[type]!)) {
      const named = fc.constantFrom('', `also_${field}: `);
      selection.push(
        fc
          .tuple(named, directive, selections(of, depth - 1))
          .map(([name, what, inner]) => `${name}${field} ${what} ${inner}`),
      );
    }
    for (const condition of conditions[type]!)
      selection.push(
        fc
          .tuple(directive, selections(condition, depth - 1))
          .map(([what, inner]) => `... on ${condition} ${what} ${inner}`),
      );
    if (type === 'Node') selection.push(directive.map((what) => `...Shared ${what}`));
  }
  return fc.array(fc.oneof(...selection), { minLength: 1, maxLength: 5 }).map((fields) => `{ ${fields.join(' ')} }`);
}

/**
 * A document over the schema, and the variables it goes with. Not every one is valid: fields of one name may differ
 * below.
 */
export const randomDocument = fc
  .tuple(selections('Query', 3), selections('Node', 1), fc.boolean())
  .map(([query, shared, given]) => ({
    source: `query($yes: Boolean!, $no: Boolean!, $given: Int, $unset: Int) ${query} fragment Shared on Node ${shared.replaceAll(/\.\.\.Shared[^.{}]*/g, '__typename ')}`,
    variables: { yes: true, no: false, ...(given ? { given: 7 } : {}) },
  }));
