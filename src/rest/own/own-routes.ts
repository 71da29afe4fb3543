import type { CompiledRoute } from '../contract/compiled-route.ts';
import type { Route } from '../contract/route.ts';
import { type OwnParts, ownRoute } from './own-route.ts';
import { requireFree } from './paths.ts';
import { FileProblem, Problems } from './problems.ts';
import { nameOf, type RouteFiles, type SourceFile } from './route-files.ts';
import { readSettings } from './settings.ts';

/** The settings of a document: the JSON file of its name. */
function settingsFile({ json }: RouteFiles, { name }: SourceFile): SourceFile | undefined {
  return json.find((file) => file.name === `${nameOf(name)}.json`);
}

/** Names of events of streams in themselves. */
const eventNames = ['ready', 'end'];

function requireName(name: string, { toolNames }: OwnParts, contract: readonly CompiledRoute[]): void {
  const tool = name.replaceAll('-', '_');
  if (toolNames.includes(tool))
    throw new FileProblem(`a tool of AI clients is named ${tool}; give the file another name`);
  if (eventNames.includes(name))
    throw new FileProblem(`an event of streams is named ${name}; give the file another name`);
  if (contract.some(({ route }) => route.name.replaceAll('-', '_') === tool))
    throw new FileProblem(`a route of the contract is named ${name}; give the file another name`);
}

/**
 * Compiles the routes of a folder. Throws `RoutesError` with every problem of every file: a folder is served as a whole
 * or not at all.
 */
export function ownRoutes(parts: OwnParts, contract: readonly CompiledRoute[], files: RouteFiles): CompiledRoute[] {
  const problems = new Problems();
  const routes: CompiledRoute[] = [];
  const own: Route[] = [];
  const addresses = contract.map(({ route }) => route);
  for (const file of files.documents) {
    const name = nameOf(file.name);
    const written = settingsFile(files, file);
    const settings = problems.of(written?.name ?? file.name, () => readSettings(written));
    if (!settings) continue;
    const compiled = problems.of(
      file.name,
      () => {
        requireName(name, parts, contract);
        const made = ownRoute(parts, file, settings);
        requireFree(made.route, addresses, own);
        return made;
      },
      written,
    );
    if (!compiled) continue;
    routes.push(compiled);
    own.push(compiled.route);
  }
  problems.requireNone();
  return routes;
}
