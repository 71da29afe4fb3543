// Vitest's global setup of the project `browser`: its tests are of the committed build, which must be of the source.
import { pageAssets } from '../../scripts/generate/page-assets.ts';
import { storedFiles } from '../../scripts/generate/stored-files.ts';

export async function setup(): Promise<void> {
  const files = storedFiles(await pageAssets()).filter(({ isCurrent }) => !isCurrent());
  if (files.length > 0)
    throw new Error(
      `generated/ is older than the source of the pages; run: npm run build\n${files.map(({ path }) => path).join('\n')}`,
    );
}
