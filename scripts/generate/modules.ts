// The modules that name all others of a folder, so that a route, a type of the graph or a vendor is added by its file
// alone.
import { globSync } from 'node:fs';
import { basename, dirname, join, sep } from 'node:path';
import { pathToFileURL } from 'node:url';
import type { RouteSettings } from '../../src/rest/contract/route.ts';
import { formatted } from './formatted.ts';
import type { GeneratedFiles } from './generated-files.ts';

const source = join(import.meta.dirname, '../../src');
const header = '// Made by `npm run generate`. Do not edit.\n';

/** Modules below a folder of `src`, in the order of their names. */
const modulesIn = (folder: string): string[] =>
  globSync(`${folder}/**/*.ts`, { cwd: source })
    .map((path) => path.split(sep).join('/').slice(0, -'.ts'.length))
    .sort()
    .map((path) => `${path}.ts`);

const isRoute = (value: unknown): value is RouteSettings =>
  typeof value === 'object' && value !== null && 'operation' in value && 'path' in value;

/** Order of the table: by path, literal segments before parameters, which would match them. */
const orderOf = ({ path, method = 'GET' }: RouteSettings) => `${path.replaceAll(':', '~')} ${methods.indexOf(method)}`;
const methods = ['GET', 'POST', 'PUT', 'PATCH', 'DELETE'];

/** The table of routes: every route, or list of routes, that a file in `routes/` exports. */
export async function routesModule(): Promise<GeneratedFiles> {
  const imports: string[] = [];
  const found: { order: string; text: string }[] = [];
  for (const path of modulesIn('rest/routes')) {
    const exported: Record<string, unknown> = await import(pathToFileURL(join(source, path)).href);
    const names = Object.entries(exported).flatMap(([name, value]) => {
      const routes = [value].flat();
      if (!routes.every(isRoute)) return [];
      for (const [index, route] of routes.entries())
        found.push({ order: orderOf(route), text: Array.isArray(value) ? `${name}[${index}]!` : name });
      return [name];
    });
    if (names.length > 0) imports.push(`import { ${names.join(', ')} } from '.${path.slice('rest'.length)}';`);
  }
  const rows = found.sort((a, b) => (a.order < b.order ? -1 : 1)).map(({ text }) => text);
  const text = `${header}import { schema } from '../schema/index.ts';
import { contractRoutes } from './contract/compiled-route.ts';
import type { Route } from './contract/route.ts';
${imports.join('\n')}

/** The contract's routes, compiled, by path: more specific paths come before those with parameters. */
export const compiledRoutes = contractRoutes(schema, [${rows.join(', ')}]);

/** The rows of the route table. */
export const routes: readonly Route[] = compiledRoutes.map(({ route }) => route);
`;
  return new Map([['routes.ts', formatted(text)]]);
}

/** The vendors: every file of their folder exports one by its own name. */
export function vendorsModule(): GeneratedFiles {
  const folder = 'intake/tape/vendors';
  const modules = modulesIn(folder).filter((path) => dirname(path) === folder);
  const names = modules.map((path) => basename(path, '.ts'));
  const imports = names.map((name) => `import { ${name} } from '../../src/${folder}/${name}.ts';`);
  const text = `${header}import type { Vendor } from '../../src/intake/tape/formats/vendor.ts';
${imports.join('\n')}

/** The vendors, by name. */
export const vendors: readonly Vendor[] = [${names.join(', ')}];
`;
  return new Map([['intake/vendors.ts', formatted(text)]]);
}

/** The graph: every module of the schema. */
export async function schemaModule(): Promise<GeneratedFiles> {
  const apart = ['index', 'builder', 'guide', 'scalars', 'federation'].map((name) => `schema/${name}.ts`);
  // Arguments name scalars, which must be there first.
  const modules = ['schema/scalars.ts', ...modulesIn('schema').filter((path) => !apart.includes(path))];
  const imports = modules.map((path) => `import '.${path.slice('schema'.length)}';`);
  const text = `${header}${imports.join('\n')}
import { builder } from './builder.ts';
import { guide } from './guide.ts';

/** The executable graph. */
export const schema = builder.toSchema();
schema.description = guide;
`;
  return new Map([['index.ts', formatted(text)]]);
}
