/**
 * Faults that are known and not mended yet, of the gateway, or of the model: lives omit what shows them. Empty on
 * a sound gateway. MODEL_SPARES lists others instead, separated by commas; `none` omits nothing.
 */
const unmended = ['days-so-far', 'bars-of-venues', 'files-without-ids', 'bar-files'] as const;

const spared = new Set<string>(process.env.MODEL_SPARES?.split(',') ?? unmended);

/** True if lives omit what shows a fault. */
export const spares = (fault: (typeof unmended)[number]): boolean => spared.has(fault);
