import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { type GuideCopy, guideCopy, guideSection, namedByGuide } from './guide-copy.ts';
import { fieldExample, routeExample, strikeExample } from './guide-example.ts';

describe('the guide to adding a route', { timeout: 600_000 }, () => {
  const guide = guideSection('Adding a route');
  const { edited } = routeExample;
  let copy: GuideCopy;
  beforeAll(() => {
    copy = guideCopy(routeExample);
  });
  afterAll(() => copy.remove());

  test('names the files of src/ that its example edits, at most five', () => {
    const inSource = edited.filter((path) => path.startsWith('src/'));
    expect(inSource.length).toBeLessThanOrEqual(5);
    expect(namedByGuide(guide)).toEqual(inSource.sort());
    for (const path of edited.filter((each) => each.startsWith('test/'))) expect(guide).toContain(`\`${path}\``);
  });

  test('gives a route that has its types, and is printed', () => {
    copy.run('tsc', '--noEmit');
    copy.run('node', 'scripts/print-schema.ts');
    expect(copy.read('routes.txt')).toMatch(/^GET +\/v2\/flow\/:symbol\/totals +flow-totals /m);
    expect(copy.read('schema.graphql')).toContain('type FlowTotalsPage');
  });

  test('gives a route that is served, is shown at /docs and passes the contract tests', () => {
    copy.tests('test/rest/flow/totals.test.ts', 'test/contract/public-names.test.ts');
    const suites = ['openapi', 'entitlement-matrix', 'stored-operations', 'sent-texts', 'http-rules'];
    const named = '/v2/flow/:symbol/totals|a source that is not configured';
    const passed = copy.tests(...suites.map((name) => `test/contract/${name}.test.ts`), '-t', named);
    expect(passed).toMatch(/Test Files +5 passed/);
  });
});

describe("the guide to adding a field of a series' record", { timeout: 600_000 }, () => {
  const guide = guideSection("Adding a field of a series' record");
  const { edited } = fieldExample;
  let copy: GuideCopy;
  beforeAll(() => {
    copy = guideCopy(fieldExample);
  });
  afterAll(() => copy.remove());

  test('names the files of src/ that its example edits, at most three', () => {
    const inSource = edited.filter((path) => path.startsWith('src/'));
    expect(inSource.length).toBeLessThanOrEqual(3);
    expect(namedByGuide(guide)).toEqual(inSource.sort());
    for (const path of edited.filter((each) => !each.startsWith('src/'))) expect(guide).toContain(`\`${path}\``);
  });

  test('gives a field that has its type, and is printed', () => {
    copy.run('tsc', '--noEmit');
    copy.run('node', 'scripts/print-schema.ts');
    expect(copy.read('schema.graphql')).toContain('  openInterestChange: Long\n');
  });

  test('gives a field that is read, stored, served, and unknown in an older block', () => {
    // Suites that name whole rows of real chains have the new field to name: it is for the example's own test.
    const suites = ['rest/chain/open-interest-change', 'rest/chain/chain'];
    const stored = ['store/chain/chain-captures', 'store/older-layouts', 'cli/commands/export'];
    const passed = copy.tests(...[...suites, ...stored].map((name) => `test/${name}.test.ts`));
    expect(passed).toMatch(/Test Files +5 passed/);
  });
});

describe("the guide's table of other records", { timeout: 600_000 }, () => {
  let copy: GuideCopy;
  beforeAll(() => {
    copy = guideCopy(strikeExample);
  });
  afterAll(() => copy.remove());

  test('names the files of src/ that a number of a strike row needs', () => {
    const row = /^\| a strike row.*$/m.exec(guideSection("Adding a field of a series' record"))![0];
    const named = [...row.matchAll(/`([^`]+)`/g)].map(([, path]) => `src/${path}`);
    const inSource = strikeExample.edited.filter((path) => path.startsWith('src/'));
    expect(named.toSorted()).toEqual(inSource.toSorted());
  });

  test('gives a number that has its type, and is summed, stored, served, exported, and unknown in an older block', () => {
    copy.run('tsc', '--noEmit');
    // Suites that name whole rows have the new number to name: it is for the example's own test.
    const suites = ['rest/gex/call-volume', 'rest/gex/grid', 'store/gex/captures'];
    expect(copy.tests(...suites.map((name) => `test/${name}.test.ts`))).toMatch(/Test Files +3 passed/);
  });
});
