/** Introduction to the graph's documentation: the first steps, and the common units. Markdown. */
export const guide = `Market data and the analytics computed from it. Start at \`Query.symbol\`: everything about a symbol is reachable from there.

**Units**, unless a field says otherwise:
- prices, premiums and notionals: dollars; an option's price is dollars a share, and a contract covers \`multiplier\` shares
- \`…Ms\`: instants, epoch milliseconds (UTC)
- dates: days and sessions in New York
- \`strike\`, \`…Thousandths\`: thousandths of a dollar; 636000 is $636
- \`…Pct\`: percent; shares of a whole and volatilities: fractions (0.1286 = 12.86 %)
- \`gex\`: dollars dealers trade to stay hedged when the price moves $1; calls positive, puts negative

**Caches**: select \`id\` where a type has one. Objects with the same id are the same object, and \`node\` reads it again.

null means unknown; zero is a value. \`meta\` reports how current and how complete an answer is, and what was reduced for the caller's tier.`;
