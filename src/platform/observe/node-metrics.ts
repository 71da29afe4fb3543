import { collectDefaultMetrics, type Registry } from 'prom-client';

/**
 * Collects Node's own metrics, except gauges named `_total`: Prometheus reserves that suffix for counters, and the
 * gauges of the same name without it have the same figures by type.
 */
export function collectNodeMetrics(registry: Registry): void {
  collectDefaultMetrics({ register: registry });
  for (const type of ['handles', 'requests', 'resources']) registry.removeSingleMetric(`nodejs_active_${type}_total`);
}
