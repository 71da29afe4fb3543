import { join } from 'node:path';
import { type OutputChunk, rolldown } from 'rolldown';
import { typescriptPackage } from './built-package.ts';

/** The TypeScript package as one module, as a page loads it. */
export async function bundledPackage(): Promise<OutputChunk> {
  const bundle = await rolldown({ input: join(typescriptPackage, 'src/index.ts'), platform: 'browser' });
  const { output } = await bundle.generate({ format: 'es', minify: true, comments: false });
  await bundle.close();
  if (output.length > 1) throw new Error(`the bundle has ${output.length} files`);
  return output[0];
}
