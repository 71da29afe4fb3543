import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { type GuideCopy, guideCopy, guideSection, namedByGuide } from './guide-copy.ts';
import { fieldExample, routeExample, strikeExample, vendorExample } from './guide-example.ts';

const inSource = (edited: readonly string[]) => edited.filter((path) => path.startsWith('src/')).toSorted();

describe('the guide to adding a route', () => {
  test('names the files of src/ that its example edits, at most three with 80 new lines', () => {
    const guide = guideSection('Adding a route');
    const { edited, linesOfSource } = routeExample;
    expect(inSource(edited).length).toBeLessThanOrEqual(3);
    expect(linesOfSource).toBeLessThanOrEqual(80);
    expect(namedByGuide(guide)).toEqual(inSource(edited));
    for (const path of edited.filter((each) => each.startsWith('test/'))) expect(guide).toContain(`\`${path}\``);
  });
});

describe("the guide to adding a field of a series' record", () => {
  const guide = guideSection("Adding a field of a series' record");

  test('names the files of src/ that its example edits, at most three', () => {
    const { edited } = fieldExample;
    expect(inSource(edited).length).toBeLessThanOrEqual(3);
    expect(namedByGuide(guide)).toEqual(inSource(edited));
    for (const path of edited.filter((each) => !each.startsWith('src/'))) expect(guide).toContain(`\`${path}\``);
  });

  test('names the files of src/ that a number of a strike row needs', () => {
    const row = /^\| a strike row.*$/m.exec(guide)![0];
    const named = [...row.matchAll(/`([^`]+)`/g)].map(([, path]) => `src/${path}`);
    expect(named.toSorted()).toEqual(inSource(strikeExample.edited));
  });
});

describe("the guide to adding a vendor's format", () => {
  test('names the one file of src/ that its example adds', () => {
    const guide = guideSection("Adding a vendor's format");
    const { edited } = vendorExample;
    expect(inSource(edited)).toHaveLength(1);
    expect(namedByGuide(guide)).toEqual(inSource(edited));
    for (const path of edited.filter((each) => !each.startsWith('src/'))) expect(guide).toContain(`\`${path}\``);
  });
});

// One copy has all four examples: each names other lines of the tree.
describe('the examples of the guides', { timeout: 600_000 }, () => {
  let copy: GuideCopy;
  beforeAll(() => {
    copy = guideCopy(routeExample, fieldExample, strikeExample, vendorExample);
  });
  afterAll(() => copy?.remove());

  test('have their types, and are printed', () => {
    copy.run('node', 'scripts/generate.ts');
    copy.run('tsc', '--noEmit');
    copy.run('node', 'scripts/print-schema.ts');
    expect(copy.read('routes.txt')).toMatch(/^GET +\/v2\/flow\/:symbol\/totals +flow-totals /m);
    expect(copy.read('schema.graphql')).toContain('type FlowTotalsPage');
    expect(copy.read('schema.graphql')).toContain('  openInterestChange: Long\n');
  });

  test('give a route that is served and shown, a field and a number that are stored, served, and unknown in older blocks', () => {
    // Suites that name whole rows of real chains have the new fields to name: they are for the examples' own tests.
    const passed = copy.tests([
      ...['rest/flow/totals', 'contract/public-names'],
      ...['rest/chain/open-interest-change', 'rest/chain/chain', 'store/chain/chain-captures', 'store/older-layouts'],
      ...['rest/gex/call-volume', 'rest/gex/grid', 'store/gex/captures'],
    ]);
    expect(passed).toMatch(/Test Files +9 passed/);
  });

  test('give a format that is found by its header, listed, printed in the documentation, and stored', () => {
    const files = ['intake/tape/vendors/datashop', 'docs/vendor-files', 'intake/ingest/every-format'];
    expect(copy.tests(files, '-t', 'datashop|summary|found by its header|formats')).toMatch(/Test Files +3 passed/);
  });

  test('give a route that passes the contract tests, and a field that is exported', () => {
    const suites = ['openapi', 'entitlement-matrix', 'stored-operations', 'sent-texts', 'http-rules'];
    const files = [...suites.map((name) => `contract/${name}`), 'cli/commands/export'];
    const named = '/v2/flow/:symbol/totals|a source that is not configured|export chain';
    expect(copy.tests(files, '-t', named)).toMatch(/Test Files +6 passed/);
  });
});
