// The part of an axis that a chart shows.

/** The positions that a chart shows of an axis, the first and the last. */
export interface Window {
  startValue: number;
  endValue: number;
}

/** A window on an axis that was `before` long and is `length` long now: one that showed its end shows it again. */
export function followedWindow({ startValue, endValue }: Window, before: number, length: number): Window {
  const on = endValue >= before - 1 ? length - 1 - endValue : 0;
  return { startValue: startValue + on, endValue: endValue + on };
}

/** The window that an option says. */
export function windowOf(option: object): Window {
  const [{ startValue, endValue }] = (option as { dataZoom: [Window] }).dataZoom;
  return { startValue, endValue };
}
