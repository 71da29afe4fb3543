import { mkdirSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { folderLimits, readRouteFiles } from '../../../src/rest/own/route-files.ts';
import { writtenFolder } from './written-folder.ts';

const names = (folder: string) => readRouteFiles(folder).documents.map(({ name }) => name);

test('documents and JSON files are read in the order of their names; others and hidden ones are not', () => {
  const folder = writtenFolder({
    'b.graphql': 'b',
    'a.graphql': 'a',
    'a.json': '{}',
    '.hidden.graphql': 'h',
    'README.md': 'r',
  });
  expect(readRouteFiles(folder)).toEqual({
    documents: [
      { name: 'a.graphql', text: 'a' },
      { name: 'b.graphql', text: 'b' },
    ],
    json: [{ name: 'a.json', text: '{}' }],
  });
});

test('a link within the folder is read, as mounted volumes have them; one that leaves it is not', () => {
  const folder = writtenFolder({});
  mkdirSync(join(folder, '..data'));
  writeFileSync(join(folder, '..data', 'a.graphql'), 'a');
  symlinkSync(join('..data', 'a.graphql'), join(folder, 'a.graphql'));
  expect(names(folder)).toEqual(['a.graphql']);
  symlinkSync('/etc/passwd', join(folder, 'b.graphql'));
  symlinkSync('nowhere', join(folder, 'c.graphql'));
  expect(() => names(folder)).toThrow(
    'b.graphql: is a link to a file outside of the folder\nc.graphql: cannot be read: ENOENT',
  );
});

test('a pipe, a folder, another name and another extension are problems, each named', () => {
  const folder = writtenFolder({ 'Bad Name.graphql': '{ a }', 'constructor.graphql': '{ a }', 'a.gql': '{ a }' });
  mkdirSync(join(folder, 'more'));
  symlinkSync('more', join(folder, 'pipe.graphql'));
  expect(() => names(folder)).toThrow(/a\.gql: expected the extension .graphql or .json/);
  expect(() => names(folder)).toThrow(/more: is a folder/);
  expect(() => names(folder)).toThrow(/Bad Name\.graphql: expected a name of lower-case letters/);
  expect(() => names(folder)).toThrow(/constructor\.graphql: expected a name/);
  expect(() => names(folder)).toThrow(/pipe\.graphql: is not a regular file/);
});

test('a file over its limit, one that is not UTF-8, and too many files are problems', () => {
  const folder = writtenFolder({
    'a.graphql': ' '.repeat(folderLimits.fileBytes + 1),
    'b.graphql': Buffer.from([0xff, 0xfe]),
  });
  expect(() => names(folder)).toThrow(
    'a.graphql: has 262,145 bytes; at most 262,144 bytes\nb.graphql: is not UTF-8 text',
  );
  const many = writtenFolder(Object.fromEntries(Array.from({ length: 2001 }, (_, i) => [`r${i}.graphql`, ''])));
  expect(() => names(many)).toThrow('holds 2001 files; at most 2000');
});

test('a folder that is none is named', () => {
  expect(() => names('/no/such/folder')).toThrow('/no/such/folder: no such folder');
  expect(() => names(join(writtenFolder({ 'a.graphql': '' }), 'a.graphql'))).toThrow('is not a folder');
});
