const sqrtHalf = Math.SQRT1_2;
const inverseSqrt2Pi = 0.3989422804014327;
const inverseSqrtPi = 0.5641895835477563;

/**
 * erf(x)/x for |x| ≤ 0.46875 as a function of y = x² (W. J. Cody, Rational Chebyshev Approximations for the Error
 * Function, 1969).
 */
function erfOverX(y: number): number {
  const numerator =
    (((0.18577770618460315 * y + 3.1611237438705655) * y + 113.86415415105016) * y + 377.485237685302) * y +
    3209.3775891384694;
  const denominator =
    (((y + 23.601290952344122) * y + 244.02463793444417) * y + 1282.6165260773723) * y + 2844.236833439171;
  return numerator / denominator;
}

/** erfcx(x) for 0.46875 ≤ x ≤ 4 (Cody 1969). */
function erfcxMiddle(x: number): number {
  let numerator = 2.1531153547440383e-8 * x + 0.5641884969886701;
  numerator = (numerator * x + 8.883149794388377) * x + 66.11919063714163;
  numerator = (numerator * x + 298.6351381974001) * x + 881.952221241769;
  numerator = (numerator * x + 1712.0476126340707) * x + 2051.0783778260716;
  numerator = numerator * x + 1230.3393547979972;
  let denominator = x + 15.744926110709835;
  denominator = (denominator * x + 117.6939508913125) * x + 537.1811018620099;
  denominator = (denominator * x + 1621.3895745666903) * x + 3290.7992357334597;
  denominator = (denominator * x + 4362.619090143247) * x + 3439.3676741437216;
  denominator = denominator * x + 1230.3393548037495;
  return numerator / denominator;
}

/** erfcx(x) for x ≥ 4 (Cody 1969). */
function erfcxTail(x: number): number {
  const y = 1 / (x * x);
  const numerator =
    ((((0.016315387137302097 * y + 0.30532663496123236) * y + 0.36034489994980445) * y + 0.12578172611122926) * y +
      0.016083785148742275) *
      y +
    0.0006587491615298378;
  const denominator =
    ((((y + 2.568520192289822) * y + 1.8729528499234604) * y + 0.5279051029514285) * y + 0.06051834131244132) * y +
    0.0023352049762686918;
  return (inverseSqrtPi - (y * numerator) / denominator) / x;
}

/** The scaled complementary error function exp(x²)·erfc(x), to a relative 1e-15; infinite below −26.6. */
export function erfcx(x: number): number {
  const magnitude = x < 0 ? -x : x;
  if (magnitude <= 0.46875) return Math.exp(x * x) * (1 - x * erfOverX(x * x));
  const positive = magnitude <= 4 ? erfcxMiddle(magnitude) : erfcxTail(magnitude);
  // erfcx(−x) = 2·exp(x²) − erfcx(x)
  return x > 0 ? positive : 2 * Math.exp(x * x) - positive;
}

/** The standard normal density. */
export function normalPdf(x: number): number {
  return inverseSqrt2Pi * Math.exp(-0.5 * x * x);
}

/** The standard normal distribution function; the lower tail is relatively accurate down to 1e-300. */
export function normalCdf(x: number): number {
  const z = x * sqrtHalf;
  if (z < 0.46875 && z > -0.46875) return 0.5 + 0.5 * z * erfOverX(z * z);
  const tail = 0.5 * Math.exp(-0.5 * x * x) * erfcx(z < 0 ? -z : z);
  return z < 0 ? tail : 1 - tail;
}
