import { existsSync, lstatSync, mkdirSync, symlinkSync, unlinkSync, writeFileSync } from 'node:fs';
import { dirname, join, relative, sep } from 'node:path';

const isWindows = process.platform === 'win32';
const linkIn = (root) => join(root, 'node_modules/.bin', isWindows ? 'node.cmd' : 'node');

/** The folder whose package.json lists Node 24 for each platform. */
export const nodeFolder = (root) => join(root, 'scripts/node');

/**
 * True if this machine has no Node that runs TypeScript: the current one is too old, or is from packages, which can be
 * removed.
 */
export function wantsNode(root) {
  const [major, minor] = process.versions.node.split('.').map(Number);
  const isOld = major < 23 || (major === 23 && minor < 6);
  const isPackaged = process.execPath.split(sep).includes('node_modules');
  return existsSync(join(nodeFolder(root), 'package.json')) && (isOld || isPackaged);
}

/** True if this program runs on the Node in `nodeFolder`. */
export const isOwnNode = (root) => process.execPath.startsWith(nodeFolder(root) + sep);

/** The program file of the installed Node 24; null when there is none. */
function installedNode(root) {
  const system = isWindows ? 'win' : process.platform;
  const file = isWindows ? 'bin/node.exe' : 'bin/node';
  const names = [`node-${system}-${process.arch}`, `node-bin-${system}-${process.arch}`];
  const programs = names.map((name) => join(nodeFolder(root), 'node_modules', name, file));
  return programs.find((each) => existsSync(each)) ?? null;
}

/** The program file of the Node that runs what is installed. */
export const nodeProgram = (root) => (wantsNode(root) && installedNode(root)) || process.execPath;

/** True if npm's scripts would not find the installed Node: npm puts the packages' programs first in their path. */
export const nodeLinkIsMissing = (root) => wantsNode(root) && installedNode(root) !== null && !existsSync(linkIn(root));

/** Links the installed Node among the packages' programs. */
export function linkNode(root) {
  const link = linkIn(root);
  const program = relative(dirname(link), installedNode(root));
  mkdirSync(dirname(link), { recursive: true });
  if (isWindows) return writeFileSync(link, `@"%~dp0${program}" %*\r\n`);
  if (lstatSync(link, { throwIfNoEntry: false })) unlinkSync(link);
  symlinkSync(program, link);
}
