import { existsSync, globSync, readFileSync } from 'node:fs';
import { dirname, join, normalize } from 'node:path';
import type { Command } from 'commander';
import { describe, expect, test } from 'vitest';
import { createProgram } from '../../src/cli/run.ts';
import { guideFiles } from './guide-example.ts';

const pages = globSync(['README.md', 'docs/**/*.md']).map((file) => file.replaceAll('\\', '/'));
const sources = globSync('{bench,bin,prisma,proto,scripts,src,test}/**/*.{ts,mjs,graphql,sql,proto}', {
  exclude: (path) => path.endsWith('node_modules'),
});
const textOf = (file: string) => readFileSync(file, 'utf8');

/** The matches of a pattern in all pages, each with its page. */
function* found(pattern: RegExp): Generator<{ page: string; match: RegExpMatchArray }> {
  for (const page of pages) for (const match of textOf(page).matchAll(pattern)) yield { page, match };
}

/** A heading's anchor, as GitHub makes it. */
const anchorOf = (heading: string) =>
  heading
    .toLowerCase()
    .replace(/[^\p{L}\p{N}\s_-]/gu, '')
    .trim()
    .replace(/\s/g, '-');

const anchorsOf = (file: string) => [...textOf(file).matchAll(/^#+ (.*)$/gm)].map((match) => anchorOf(match[1]!));

describe('the documentation', () => {
  test('links to files and headings that exist', () => {
    const broken: string[] = [];
    let links = 0;
    for (const { page, match } of found(/\]\((?!https?:)([^)#\s]*)(?:#([^)\s]+))?\)/g)) {
      const [, path, anchor] = match;
      const target = path ? normalize(join(dirname(page), path)) : page;
      links += 1;
      if (!existsSync(target) || (anchor !== undefined && !anchorsOf(target).includes(anchor)))
        broken.push(`${page}: ${match[0]}`);
    }
    expect(links).toBeGreaterThan(40);
    expect(broken).toEqual([]);
  });

  test('names files of the repository that exist', () => {
    const isThere = (path: string) =>
      existsSync(path) || [...sources, ...guideFiles].some((file) => file === path || file.endsWith(`/${path}`));
    // The snippets of clients.md are files of the reader's own; addresses of the server have no file.
    const own = new Set(['docs/clients.md', 'docs/mcp.md', 'docs/own-routes.md']);
    const absent = [...found(/`((?:[\w.-]+\/)*[\w.-]+\.(?:ts|mjs|graphql|sql|proto))`/g)]
      .filter(({ page, match }) => !own.has(page) && !isThere(match[1]!))
      .map(({ page, match }) => `${page}: ${match[1]}`);
    expect(absent).toEqual([]);
  });

  test('names scripts that package.json has', () => {
    const { scripts } = JSON.parse(textOf('package.json')) as { scripts: Record<string, string> };
    const named = [...found(/npm run ([a-z]+)/g)].map(({ match }) => match[1]!);
    expect(named.length).toBeGreaterThan(10);
    expect(named.filter((name) => !(name in scripts))).toEqual([]);
  });
});

/** Every command by its words, with its options. */
function* commandsOf(command: Command, words: string[] = []): Generator<[string, string[]]> {
  yield [words.join(' '), command.options.flatMap(({ long, short }) => [long, short].filter((flag) => flag != null))];
  for (const each of command.commands) yield* commandsOf(each, [...words, each.name()]);
}

describe('the command line', () => {
  const streams = { stdout: process.stdout, stderr: process.stderr, env: {} };
  const commands = new Map(commandsOf(createProgram(streams as unknown as Parameters<typeof createProgram>[0])));

  /** A command line of the documentation: the command it is, and its further words; null when it is none. */
  function commandOf(line: string): { command: string; rest: string[] } | null {
    const words = line.split(/\s+/);
    let length = 0;
    while (length < words.length && commands.has(words.slice(0, length + 1).join(' '))) length += 1;
    return length === 0 ? null : { command: words.slice(0, length).join(' '), rest: words.slice(length) };
  }

  test('has the commands and options that are shown', () => {
    const wrong: string[] = [];
    let lines = 0;
    for (const { page, match } of found(/(`|^ {4}|^)(npm run tapegraph -- |tapegraph |)([a-z](?:\\\n|[^\n`])*)/gm)) {
      const [, opening, prefix, rest] = match;
      const line = rest!.replaceAll('\\\n', ' ');
      const named = commandOf(line);
      if (named === null && prefix !== '' && opening !== '') wrong.push(`${page}: ${match[0]}`);
      // Prose may begin with the word of a command; a command in the text is in backquotes or has its program.
      if (named === null || (opening === '' && prefix === '')) continue;
      lines += 1;
      const options = new Set(['--help', ...commands.get(named.command)!]);
      const flags = named.rest.flatMap((word) => /^\[?(--[a-z-]+)/.exec(word)?.[1] ?? []);
      if (flags.some((flag) => !options.has(flag))) wrong.push(`${page}: ${line}`);
    }
    expect(lines).toBeGreaterThan(60);
    expect(wrong).toEqual([]);
  });

  test('is documented, every command', () => {
    const all = pages.map(textOf).join('\n');
    const names = [...commands.keys()].filter((name) => name !== '');
    expect(names.filter((name) => !new RegExp(`\\b${name.replace(' ', '\\s+')}\\b`).test(all))).toEqual([]);
  });
});
