import { readFile } from 'node:fs/promises';
import { type Command, InvalidArgumentError, Option } from 'commander';
import type { Caller } from '../../access/caller.ts';
import type { Estimate } from '../../graphql/estimate.ts';
import { type Tier, tiers } from '../../platform/config/tiers.ts';
import { type CommandResult, printing, table } from '../io/command-result.ts';
import { type CommonOptions, withCommonOptions, withExamples } from '../io/options.ts';
import { withStore } from '../io/store.ts';
import type { Terminal } from '../io/terminal.ts';

interface CostOptions extends CommonOptions {
  variables: Record<string, unknown>;
  operation?: string;
  as: Caller['kind'];
  tier: Tier;
  undeclared?: boolean;
}

/** A JSON object. */
function object(text: string): Record<string, unknown> {
  try {
    const value: unknown = JSON.parse(text);
    if (typeof value === 'object' && value !== null && !Array.isArray(value)) return value as Record<string, unknown>;
  } catch {}
  throw new InvalidArgumentError('Expected a JSON object such as {"symbol": "SPY"}.');
}

/** A caller with the rights of the options. */
function callerOf({ as, tier, undeclared = false }: CostOptions): Caller {
  return {
    accountId: 'command-line',
    kind: as,
    keyId: null,
    tier,
    siteTier: tier,
    apiTier: tier,
    classification: undeclared ? null : 'non_professional',
    attested: !undeclared,
  };
}

async function estimateOf(terminal: Terminal, query: string, options: CostOptions): Promise<Estimate> {
  const { variables, operation: operationName = null, tier } = options;
  // Loaded lazily, so that help and usage errors do not wait for the graph.
  const [
    { bodyPoints },
    { boundedJsonSize },
    { estimateOperation },
    { operationWeights },
    { standardIntrospection },
    { schema },
    { symbolRegistry },
  ] = await Promise.all([
    import('../../access/limits/body-points.ts'),
    import('../../platform/wire/sent-text.ts'),
    import('../../graphql/estimate.ts'),
    import('../../graphql/limits/weighed-operation.ts'),
    import('../../graphql/limits/standard-introspection.ts'),
    import('../../schema/index.ts'),
    import('../../store/market/symbols.ts'),
  ]);
  const sent = Buffer.from(JSON.stringify({ query, variables, ...(operationName !== null && { operationName }) }));
  const asked = { query, variables, operationName, sentPoints: bodyPoints(boundedJsonSize(sent, 'body')) };
  const introspection = standardIntrospection(schema);
  return withStore(terminal, options, (store, { rates }) =>
    estimateOperation(
      {
        schema,
        registry: () => symbolRegistry(store),
        weigh: operationWeights(schema),
        documents: { documentCache: new Map() },
        isFree: (document) => introspection(document) !== null,
      },
      asked,
      {
        authentication: { state: 'ok', caller: callerOf(options) },
        rate: { limit: rates[tier], remaining: null, resetSeconds: 0 },
      },
    ),
  );
}

const count = (value: number) => value.toLocaleString('en-US');

const inWords = ({ requests, points }: Estimate['maximum']) =>
  `${count(requests)} request${requests === 1 ? '' : 's'} (${count(points)} points)`;

function linesOf({ maximum, expected, minute, fields, fieldsOmitted, refused, undecided }: Estimate): string[] {
  const rows = fields.map((field) => [
    field.path,
    count(field.maximum.points),
    field.expected === null ? 'refused' : count(field.expected.points),
    field.items ? count(field.items.maximum) : '',
    field.items ? (field.items.boundBy ?? 'its own length') : '',
  ]);
  return [
    `at most ${inWords(maximum)}, expected ${inWords(expected)}; the minute has ${count(minute?.limit ?? 0)} points`,
    ...(rows.length > 0 ? ['', ...table(['FIELD', 'AT MOST', 'EXPECTED', 'ITEMS', 'BOUND BY'], rows)] : []),
    ...(fieldsOmitted > 0 ? [`and ${fieldsOmitted} more fields`] : []),
    ...refused.map(({ path, code, message }) => `${path ?? 'rejected'}: ${code}: ${message}`),
    ...(undecided.length > 0 ? [`rights to the symbols of ${undecided.join(', ')} are decided when it runs`] : []),
  ];
}

async function cost(terminal: Terminal, file: string, options: CostOptions): Promise<CommandResult> {
  const estimate = await estimateOf(terminal, await readFile(file, 'utf8'), options);
  return { json: estimate, lines: linesOf(estimate), failed: estimate.refused.length > 0 };
}

/** `tapegraph cost`: what a document would cost, and what of it would be refused. */
export function addCostCommand(program: Command, terminal: Terminal): void {
  const command = withCommonOptions(program.command('cost'))
    .summary('estimate the cost of a GraphQL document, without running it')
    .description(
      'Prints what a GraphQL document would cost, by field: points at most and as expected, and what bounds its lists. ' +
        'Runs nothing. Fails if the document, or a field of it, would be refused, so that a build can check its documents.',
    )
    .argument('<file>', 'file with the document')
    .option('--variables <json>', 'values of its variables', object, {})
    .option('--operation <name>', 'the operation, if the document has several')
    .addOption(
      new Option('--as <kind>', 'caller: an API key or a site session').choices(['key', 'session']).default('key'),
    )
    .addOption(new Option('--tier <tier>', 'tier of the caller').choices(tiers).default('pro'))
    .option('--undeclared', 'the caller has made no non-professional market-data declaration');
  withExamples(command, [
    ['cost dashboard.graphql --variables \'{"symbol": "SPY"}\'', 'what does this document cost?'],
    ['cost dashboard.graphql --tier free --json', 'can a free key send it? As a report for scripts'],
  ]);
  command.action(
    printing(
      terminal,
      () => command.opts(),
      (file: string) => cost(terminal, file, command.opts<CostOptions>()),
    ),
  );
}
