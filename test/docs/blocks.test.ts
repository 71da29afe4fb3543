import { spawnSync } from 'node:child_process';
import { parse, specifiedRules, validate } from 'graphql';
import { parseAst } from 'rolldown/parseAst';
import { describe, expect, test } from 'vitest';
import { schema } from '../../src/schema/index.ts';
import { notRunOutsideCi } from '../support/not-run.ts';
import { allBlocks, documents, type FencedBlock, fencedBlocks } from './fenced-blocks.ts';

const blocks = allBlocks();

const hasPython = spawnSync('python3', ['--version']).status === 0;
if (!hasPython) notRunOutsideCi('the Python of the documents', 'there is no python3');

/** Throws if a program does not accept its input. */
function accepted(source: string, command: string, ...args: string[]): void {
  const { status, stderr, error } = spawnSync(command, args, { input: source, encoding: 'utf8' });
  if (status !== 0) throw new Error(stderr || String(error));
}

/** Throws if the text of a block of a language is not of it. */
const parsers: Record<string, (source: string) => void> = {
  graphql: (source) => {
    const document = parse(source);
    const isOperation = document.definitions.some(({ kind }) => kind === 'OperationDefinition');
    if (isOperation) expect(validate(schema, document, specifiedRules)).toEqual([]);
  },
  // Several lines are one value, or each is one.
  json: (source) => {
    const lines = source.trim().split('\n');
    for (const each of lines.every((line) => /^\{.*\}$/.test(line)) ? lines : [source]) JSON.parse(each);
  },
  sh: (source) => accepted(source, 'bash', '-n'),
  python: (source) => accepted(source, 'python3', '-c', "import sys; compile(sys.stdin.read(), 'block', 'exec')"),
  js: (source) => void parseAst(source, { lang: 'js' }),
  ts: (source) => void parseAst(source, { lang: 'ts' }),
};

/** Languages that are not parsed here, and why. */
const unparsed: Record<string, string> = {
  text: 'what a server sends',
  sql: 'parsed by running it, in blocks.slow.test.ts',
  powerquery: 'only Excel and Power BI read Power Query',
};

/** Dates that programs may name: one before all data. */
const lastingDates = new Set(['2000-01-01']);

describe('the fenced blocks of the documents', () => {
  test('are found, in every document that has some', () => {
    expect(documents).toEqual(expect.arrayContaining(['README.md', 'docs/graph.md', 'clients/python/README.md']));
    expect(blocks.length).toBeGreaterThan(60);
  });

  test('are of languages that are parsed, or excused', () => {
    const languages = new Set(blocks.map(({ language }) => language));
    expect([...languages].sort()).toEqual([...Object.keys(parsers), ...Object.keys(unparsed)].sort());
  });

  const parsed = blocks.filter(({ language }) => parsers[language] && (hasPython || language !== 'python'));
  test.each(parsed.map((block): [string, FencedBlock] => [block.place, block]))('parse: %s', (_, block) => {
    parsers[block.language]!(block.source);
  });

  // Answers are of the day on which they were given; SQL is of the operator's own files.
  const isDated = ({ language }: FencedBlock) => ['json', 'text', 'sql'].includes(language);
  test('name no date that goes stale', () => {
    const named = blocks
      .filter((block) => !isDated(block))
      .flatMap(({ place, source }) =>
        (source.match(/\b20\d\d-\d\d-\d\d/g) ?? [])
          .filter((date) => !lastingDates.has(date))
          .map((date) => [place, date]),
      );
    expect(named).toEqual([]);
  });
});

describe('a fence', () => {
  const message = (text: string) => {
    try {
      return fencedBlocks('a.md', text);
    } catch (error) {
      return (error as Error).message;
    }
  };

  test('that is not closed is an error, at the end and before the next one', () => {
    expect(message('```sh\nls\n```\n```json\n{}\n')).toBe('a.md:4: the fence is not closed');
    expect(message('```graphql\n{\n\ntext\n\n```json\n{}\n```\n')).toBe('a.md:1: the fence is not closed');
  });

  test('without a language is an error', () => {
    expect(message('```\nls\n```\n')).toBe('a.md:1: the fence names no language');
  });
});
