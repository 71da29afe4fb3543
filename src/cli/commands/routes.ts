import type { Command } from 'commander';
import { type CommandResult, printing, table } from '../io/command-result.ts';
import { withExamples } from '../io/options.ts';
import type { Terminal } from '../io/terminal.ts';

async function checkRoutes(folder: string): Promise<CommandResult> {
  const [{ readRouteFiles }, { compileContract, routeTable }, { writtenPath }, { builtInTools }] = await Promise.all([
    import('../../rest/own/route-files.ts'),
    import('../../rest/route-table.ts'),
    import('../../rest/contract/route.ts'),
    import('../../mcp/built-in-tools.ts'),
  ]);
  const settings = { metaHeaderPrefix: '' };
  const toolNames = builtInTools.map(({ name }) => name);
  const { own } = routeTable(compileContract(settings), readRouteFiles(folder), settings, toolNames);
  const routes = own.map(({ route, stream }) => ({
    name: route.name,
    method: route.method,
    path: writtenPath(route.path),
    tier: route.own!.tier,
    groups: route.own!.groups,
    stream: stream !== undefined,
  }));
  const rows = routes.map(({ name, method, path, tier, groups }) => [name, method, path, tier, groups.join(',')]);
  return {
    json: { routes },
    lines: routes.length === 0 ? ['No routes.'] : table(['NAME', 'METHOD', 'PATH', 'TIER', 'COUNTED IN'], rows),
  };
}

/** `tapegraph routes`: the operator's routes. */
export function addRoutesCommands(program: Command, terminal: Terminal): void {
  const routes = program.command('routes').summary('routes of your own: check');
  const command = routes
    .command('check')
    .summary('check a folder of routes')
    .description(
      'Checks a folder of routes as serve --routes reads it, without a server or a store: every problem is reported with its file and line, and the exit code is 1 if there is any.',
    )
    .argument('<folder>', 'folder of .graphql documents, with their .json settings')
    .option('--json', 'print one JSON object on stdout, and nothing else');
  withExamples(command, [['routes check routes', 'for continuous integration']]);
  command.action(
    printing(
      terminal,
      () => command.opts(),
      () => checkRoutes(command.args[0]!),
    ),
  );
}
