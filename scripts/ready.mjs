// Makes a clone ready: installs the packages that it takes to run (and Node 24, if that of the machine is older), and
// links the embedded server's libraries. With --dev the development packages too; further arguments name folders with a
// package.json and a lock file of their own. Plain JavaScript without dependencies: it runs before anything is
// installed, on any Node from 20 upward. Nothing to do is the common case and costs a few file reads; two at once are
// kept apart by a lock file.
import { unlinkSync } from 'node:fs';
import { dirname, join, relative } from 'node:path';
import { fileURLToPath } from 'node:url';
import { makeLink, missingLinks } from './ready/library-links.mjs';
import { takeLock } from './ready/lock.mjs';
import { isOwnNode, linkNode, nodeFolder, nodeLinkIsMissing, nodeProgram, wantsNode } from './ready/node-program.mjs';
import { checkNotStopped, NotReady, openInstaller, stopWithSignals } from './ready/npm.mjs';
import { installPackages, packagesAreMissing } from './ready/packages.mjs';
import { openProgress } from './ready/progress.mjs';

const root = dirname(dirname(fileURLToPath(import.meta.url)));
const lockFile = join(root, '.ready.lock');
const args = process.argv.slice(2);
const wanted = args.includes('--dev') ? 'all' : 'run';
const furtherFolders = args.filter((arg) => !arg.startsWith('--')).map((folder) => join(root, folder));
const { say, step } = openProgress(process.stderr);

const nodeIsMissing = () => wantsNode(root) && packagesAreMissing(nodeFolder(root), 'all');
const staleFolders = () => furtherFolders.filter((folder) => packagesAreMissing(folder, 'all'));

const isReady = () =>
  !nodeIsMissing() &&
  !packagesAreMissing(root, wanted) &&
  !nodeLinkIsMissing(root) &&
  missingLinks(root).length === 0 &&
  staleFolders().length === 0;

/** Waits for all, then throws what the first that failed threw: no npm continues without the lock. */
async function allOf(promises) {
  const failed = (await Promise.allSettled(promises)).find(({ status }) => status === 'rejected');
  if (failed) throw failed.reason;
}

async function makeReady() {
  const npm = openInstaller(root);
  const install = (folder, scope, what, by = npm) =>
    step(`installing ${what}`, `installed ${what}`, () => installPackages(by, folder, scope));
  const steps = [];
  if (nodeIsMissing()) {
    const node = install(nodeFolder(root), 'all', 'Node 24');
    // Not beside the rest if this is the Node that runs npm.
    if (isOwnNode(root)) await node;
    steps.push(node);
  }
  const packages = wanted === 'run' ? 'the packages to run' : 'packages, also those for development';
  if (packagesAreMissing(root, wanted)) steps.push(install(root, wanted, packages));
  await allOf(steps);
  if (nodeLinkIsMissing(root)) linkNode(root);
  for (const each of missingLinks(root)) makeLink(each);
  const onThatNode = (folder, args) => npm(folder, args, nodeProgram(root));
  for (const folder of staleFolders())
    await install(folder, 'all', `packages of ${relative(root, folder)}`, onThatNode);
}

try {
  if (!isReady()) {
    stopWithSignals();
    await takeLock(lockFile, () => say('waiting for another process that makes this clone ready …'), checkNotStopped);
    try {
      await makeReady();
    } finally {
      unlinkSync(lockFile);
    }
  }
} catch (error) {
  say(`not ready: ${error instanceof NotReady ? error.message : error.stack}`);
  process.exitCode = 1;
}
