// Writes TypeScript of the OpenAPI document in the folder named by the argument: `openapi.ts` by openapi-typescript,
// `orval.ts` by orval. The packages are those of this folder.
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import openapiTypescript, { astToString } from 'openapi-typescript';
import { generate } from 'orval';

const folder = process.argv[2];
const document = join(folder, 'openapi.json');
writeFileSync(
  join(folder, 'openapi.ts'),
  astToString(await openapiTypescript(JSON.parse(readFileSync(document, 'utf8')))),
);
await generate({ input: document, output: { target: join(folder, 'orval.ts'), client: 'fetch' } }, folder);
