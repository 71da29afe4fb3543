import type { Config } from '../../config/config.ts';
import { peerAddressOf } from '../../http/client-address.ts';
import type { ConnectionLimits } from '../../http/connection-limits.ts';

/** Connections of a server, unless a setting says otherwise or the system has room for fewer. */
const usualMax = 8192;

/** Files that a process may have open; null = unknown to the system. */
function openFilesLimit(): number | null {
  // Its types do not know it. Without it, the names of all peers would be looked up.
  Object.assign(process.report, { excludeNetwork: true });
  const { userLimits } = process.report.getReport() as { userLimits?: { open_files: { soft: number | 'unlimited' } } };
  const soft = userLimits?.open_files.soft;
  return typeof soft === 'number' ? soft : null;
}

/**
 * Default number of connections of a process: a quarter of the files it may open is left for everything else.
 */
function maxConnections(): number {
  return Math.min(usualMax, Math.floor(0.75 * (openFilesLimit() ?? usualMax)));
}

/** The limits on connections by the settings; without settings, those that a server has by itself. */
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
