// Vitest's global setup of the project `citus`: a coordinator and two workers for the whole run, and an embedded server
// to compare with.
import type { TestProject } from 'vitest/node';
import { citusCluster } from './citus-cluster.ts';
import { setup as setUpEmbedded } from './embedded-server.ts';

export async function setup(project: TestProject): Promise<() => Promise<void>> {
  const closeEmbedded = await setUpEmbedded(project);
  const { url, ports, folder, stop } = await citusCluster();
  project.provide('cluster', { url, ports, folder });
  return async () => {
    stop();
    await closeEmbedded();
  };
}
