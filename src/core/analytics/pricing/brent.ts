/**
 * A zero of `f` between `a` and `b`, whose values `fa` and `fb` have opposite signs, with `tolerance` of its argument
 * (Brent, Algorithms for Minimization without Derivatives, 1973, ch. 4).
 */
export function brent(
  f: (x: number) => number,
  a: number,
  fa: number,
  b: number,
  fb: number,
  tolerance: number,
): number {
  let [best, fBest, counter, fCounter] = [b, fb, a, fa];
  let [previous, fPrevious] = [a, fa];
  let step = b - a;
  let stepBefore = step;
  for (let iteration = 0; iteration < 100; iteration++) {
    if (Math.abs(fCounter) < Math.abs(fBest)) {
      [previous, best, counter] = [best, counter, best];
      [fPrevious, fBest, fCounter] = [fBest, fCounter, fBest];
    }
    const least = 2 * Number.EPSILON * Math.abs(best) + 0.5 * tolerance;
    const half = 0.5 * (counter - best);
    if (Math.abs(half) <= least || fBest === 0) return best;
    const trial =
      Math.abs(stepBefore) >= least && Math.abs(fPrevious) > Math.abs(fBest)
        ? interpolation(previous, fPrevious, best, fBest, counter, fCounter)
        : Number.NaN;
    const accepted =
      2 * Math.abs(trial) < Math.min(3 * Math.abs(half) - least, Math.abs(stepBefore)) && trial * half > 0;
    stepBefore = accepted ? step : half;
    step = accepted ? trial : half;
    [previous, fPrevious] = [best, fBest];
    best += Math.abs(step) > least ? step : Math.sign(half) * least;
    fBest = f(best);
    if (fBest > 0 === fCounter > 0) {
      [counter, fCounter] = [previous, fPrevious];
      step = best - previous;
      stepBefore = step;
    }
  }
  return best;
}

/** The step from `best` by a line through two points, or an inverse parabola through three. */
function interpolation(
  previous: number,
  fPrevious: number,
  best: number,
  fBest: number,
  counter: number,
  fCounter: number,
): number {
  const s = fBest / fPrevious;
  if (previous === counter) return ((counter - best) * s) / (s - 1);
  const q = fPrevious / fCounter;
  const r = fBest / fCounter;
  return (s * ((counter - best) * q * (q - r) - (best - previous) * (r - 1))) / -((q - 1) * (r - 1) * (s - 1));
}
