/** A number as text. Whole numbers have digits only; `String` writes those from 1e21 on with an exponent. */
export const numberText = (value: number): string => (Number.isInteger(value) ? String(BigInt(value)) : String(value));
