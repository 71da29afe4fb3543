import { Gauge, type Registry } from 'prom-client';

/** Age of the newest data by dataset, s; empty while the market is closed. Bounded in time. */
export type DataAges = () => Promise<Record<string, number>>;

/** Reports the ages of data whenever metrics are read; none if they cannot be determined. */
export function watchDataAges(registers: Registry[], dataAges: DataAges): void {
  new Gauge({
    name: 'tapegraph_data_age_seconds',
    help: 'Age of the latest stored data by dataset, by the clock of this process. Only while the market is open.',
    labelNames: ['dataset'],
    registers,
    async collect() {
      const ages = await dataAges().catch(() => ({}));
      this.reset();
      for (const [dataset, age] of Object.entries(ages)) this.set({ dataset }, age);
    },
  });
}
