import type { Config } from '../../platform/config/config.ts';
import { peerAddressOf } from '../../platform/http/client-address.ts';
import type { ConnectionLimits } from '../../platform/http/connection-limits.ts';

/** Default number of connections of a server, unless the system has room for fewer. */
const usualMax = 8192;

/** Maximum number of open files of a process; null = unknown. */
function openFilesLimit(): number | null {
  // Missing in Node's types. Without it, the names of all peers would be looked up.
  Object.assign(process.report, { excludeNetwork: true });
  const { userLimits } = process.report.getReport() as { userLimits?: { open_files: { soft: number | 'unlimited' } } };
  const soft = userLimits?.open_files.soft;
  return typeof soft === 'number' ? soft : null;
}

/** Default number of connections of a process: a quarter of its open files is reserved for everything else. */
function maxConnections(): number {
  return Math.min(usualMax, Math.floor(0.75 * (openFilesLimit() ?? usualMax)));
}

/** The connection limits by the settings, else the defaults of a server. */
export function connectionLimits(
  settings: Pick<Config, 'maxConnections' | 'maxConnectionsPerAddress' | 'trustedProxies'> = {
    maxConnections: null,
    maxConnectionsPerAddress: null,
    trustedProxies: [],
  },
): ConnectionLimits {
  const max = settings.maxConnections ?? maxConnections();
  return {
    max,
    perAddress: Math.min(max, settings.maxConnectionsPerAddress ?? Math.ceil(max / 4)),
    addressOf: peerAddressOf(['loopback', ...settings.trustedProxies]),
  };
}
