/**
 * Faults of the gateway that are known and not mended yet: lives omit what shows them. Empty on a sound gateway;
 * with MODEL_SPARES=none nothing is omitted.
 */
const unmended = ['waiting-joined-by-others', 'ids-that-collide'] as const;

/** True if lives omit what shows a fault. */
export const spares = (fault: (typeof unmended)[number]): boolean =>
  process.env.MODEL_SPARES !== 'none' && unmended.includes(fault);
