/** Parts of a view, named after the variables that select them. */
export const parts = ['trades', 'heat', 'volatility', 'offExchange'] as const;
export type Part = (typeof parts)[number];
