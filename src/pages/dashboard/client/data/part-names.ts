/** Parts of a view by the names of the variables that ask for them. */
export const parts = ['trades', 'heat', 'volatility', 'offExchange'] as const;
export type Part = (typeof parts)[number];
