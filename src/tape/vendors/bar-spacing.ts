import { dayMs, minuteMs } from '../../domain/units.ts';
import { VendorError } from './row-format.ts';

const longerMs = 5 * minuteMs;
const enough = 10;

/** Checks that bars of a format which does not state their length are minutes or days. */
export class BarSpacing {
  #count = 0;
  #misfits = 0;
  #lastMs = Number.NaN;
  #closest = Number.POSITIVE_INFINITY;

  /** Adds a bar's start, epoch ms. */
  add(tsMs: number): void {
    this.#count++;
    if (tsMs % longerMs !== 0) this.#misfits++;
    const step = Math.abs(tsMs - this.#lastMs);
    if (step > 0 && step < this.#closest) this.#closest = step;
    this.#lastMs = tsMs;
  }

  /** Throws `VendorError` if all start at five minutes, less than a day apart. Ten minutes do so once in 10^7 files. */
  check(): void {
    // A day with a change of clocks has 23 hours.
    if (this.#count < enough || this.#misfits > 0 || this.#closest > dayMs - 2 * 60 * minuteMs) return;
    throw new VendorError(
      `all ${this.#count} bars start at multiples of five minutes: expected bars of a minute or of a day`,
    );
  }
}
