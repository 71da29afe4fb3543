import { spawnSync } from 'node:child_process';
import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { Json, TestApp } from '../support/app.ts';
import { filledApp, filledNowMs } from '../support/filled-market.ts';
import { notRunOutsideCi } from '../support/not-run.ts';
import { temporaryFolder } from '../support/temporary-folder.ts';

const at = (path: string) => fileURLToPath(new URL(`../../${path}`, import.meta.url));
const dashboard = (name: string): Json => JSON.parse(readFileSync(at(`grafana/${name}.json`), 'utf8'));
const targetsOf = ({ panels }: Json): Json[] =>
  panels.flatMap(({ title, targets }: Json) => targets.map((target: Json) => ({ title, ...target })));

test.each(['market', 'gateway'])('the dashboard %s has panels of its data source, none over another', (name) => {
  const { panels, templating, uid } = dashboard(name);
  expect(uid).toMatch(/^tapegraph-/);
  const [{ query }] = templating.list.filter((each: Json) => each.type === 'datasource');
  for (const { datasource, targets, title } of panels) {
    for (const each of [datasource, ...targets.map((target: Json) => target.datasource)])
      expect(each, title).toEqual({ type: query, uid: `\${datasource}` });
  }
  const cells = panels.flatMap(({ gridPos: { x, y, w, h } }: Json) =>
    Array.from({ length: w * h }, (_, i) => `${x + (i % w)} ${y + Math.floor(i / w)}`),
  );
  expect(new Set(cells).size).toBe(cells.length);
});

describe('each panel of the market asks a route that answers with its columns', () => {
  let app: TestApp;
  let credential: string;
  beforeAll(async () => {
    app = await filledApp();
    credential = await app.key();
  }, 120_000);
  afterAll(() => app.close());

  const variables: Record<string, string> = {
    symbol: 'SPY',
    __from: String(filledNowMs - 86_400_000),
    __to: String(filledNowMs),
  };
  const filled = (text: string) => text.replaceAll(/\$\{(\w+)\}/g, (_, name: string) => variables[name] ?? `?${name}`);
  const valueAt = (value: Json, path: string): Json => path.split('.').reduce((found, key) => found?.[key], value);

  test.each(targetsOf(dashboard('market')))(
    '$title',
    async ({ url, url_options: { params }, root_selector, columns }) => {
      const query = new URLSearchParams(params.map(({ key, value }: Json) => [key, filled(value)]));
      const { status, body } = await app.get(`${filled(url)}?${query}`, { credential });
      expect(status, JSON.stringify(body)).toBe(200);
      const rows = valueAt(body, root_selector);
      expect(rows.length).toBeGreaterThan(0);
      for (const { selector, type } of columns) {
        const values = rows.map((row: Json) => valueAt(row, selector));
        expect(values, selector).not.toContain(undefined);
        const known = values.filter((value: Json) => value !== null);
        if (type !== 'string')
          expect(
            known.every((value: Json) => typeof value === 'number'),
            selector,
          ).toBe(true);
      }
    },
  );
});

describe('Prometheus', () => {
  const folder = temporaryFolder();
  const promtool = (...args: string[]) => spawnSync('promtool', args, { encoding: 'utf8' });
  const isThere = promtool('--version').status === 0;
  if (!isThere) notRunOutsideCi('the check of prometheus/rules.yml', 'promtool is not installed (Debian: prometheus)');

  test('the rules and the dashboard read metrics that exist', () => {
    const sources = readdirSync(at('src'), { recursive: true, encoding: 'utf8' }).filter((path) =>
      path.endsWith('.ts'),
    );
    const known = new Set(
      sources.flatMap((path) =>
        [...readFileSync(at(`src/${path}`), 'utf8').matchAll(/'(tapegraph_\w+)'/g)].map(([, name]) => name),
      ),
    );
    const read = (text: string) => [...text.matchAll(/\btapegraph_\w+/g)].map(([name]) => name.replace(/_bucket$/, ''));
    const names = [
      ...read(readFileSync(at('prometheus/rules.yml'), 'utf8')),
      ...targetsOf(dashboard('gateway')).flatMap(({ expr }) => read(expr)),
    ];
    expect(names.length).toBeGreaterThan(15);
    for (const name of names) expect(known, name).toContain(name);
  });

  test.skipIf(!isThere)('promtool finds nothing wrong with the rules, and each alert fires on what it is for', () => {
    expect(promtool('check', 'rules', at('prometheus/rules.yml'))).toMatchObject({ status: 0, stderr: '' });
    const { status, stdout, stderr } = promtool('test', 'rules', at('prometheus/rules.test.yml'));
    expect({ status, text: stdout + stderr }).toMatchObject({ status: 0 });
    const tested = readFileSync(at('prometheus/rules.test.yml'), 'utf8');
    const alerts = [...readFileSync(at('prometheus/rules.yml'), 'utf8').matchAll(/alert: (\w+)/g)].map(
      ([, name]) => name!,
    );
    for (const alert of alerts.filter((name) => name !== 'TapegraphSlow')) expect(tested).toContain(alert);
  });

  test.skipIf(!isThere)('promtool reads every expression of the dashboard', () => {
    const rules = targetsOf(dashboard('gateway')).map(({ expr }, index) => ({ record: `panel:${index}`, expr }));
    const file = `${folder()}/dashboard.yml`;
    writeFileSync(file, JSON.stringify({ groups: [{ name: 'dashboard', rules }] }));
    expect(promtool('check', 'rules', file)).toMatchObject({ status: 0 });
  });
});
