import { afterAll, beforeAll } from 'vitest';
import { temporaryFolder } from '../support/temporary-folder.ts';
import { pythonPackageTests } from './python-package.ts';
import { type SampleGateway, sampleGateway } from './sample-gateway.ts';
import { typescriptPackageTests } from './typescript-package.ts';

// One server for the tests of all packages: most of their time is its market's.
let gateway: SampleGateway;
const folder = temporaryFolder();
beforeAll(async () => {
  gateway = await sampleGateway(folder());
});
afterAll(() => gateway.app.close());

pythonPackageTests(() => gateway);
typescriptPackageTests(() => gateway);
