/** Texts made of `count` pieces. */
export const times = (count: number, piece: (index: number) => string) =>
  Array.from({ length: count }, (_, index) => piece(index)).join(' ');

/**
 * Every alias of introspection selects the whole schema again: 66 × 66 × 67 descriptions of each type, out of 3.4 KB of
 * text.
 */
export const introspectionThroughFragments = `{${times(66, (i) => `a${i}:__schema{...F}`)}}
  fragment F on __Schema{${times(66, (i) => `t${i}:types{...G}`)}}
  fragment G on __Type{${times(67, (i) => `n${i}:description`)}}`;

/**
 * Types of fields of types, each level under several names: within every limit of the document, 3 MB of text from 12
 * KB.
 */
export const introspectionThroughFields = `{__schema{${times(9, (i) => `a${i}:types{${times(9, (j) => `b${j}:fields{type{${times(9, (k) => `c${k}:fields{name}`)}}}`)}}`)}}}`;

/** As many names as one field may have, on each of three levels. */
export const registryRows = (names: number, leaf = (key: string) => `${key}:name`) =>
  `{${times(10, (i) => `a${i}:registry{${times(10, (j) => `b${j}:rows{${times(names, (k) => leaf(`c${k}`))}}`)}}`)}}`;

export const registryChainPolicies = (names: number) =>
  registryRows(names, (key) => `${key}:chainPolicy{windowDays tenorFrame}`);

/** Two pages of bars, each in 20 lists of 150 closes. */
export const manyCloses = (names: number) =>
  `{symbol(symbol:"SPY"){${times(2, (i) => `a${i}:bars(from:"2026-11-19",to:"2026-11-20"){${times(20, (j) => `b${j}:rows{${times(names, (k) => `c${k}:close`)}}`)}}`)}}}`;

/** Fragments that double at each of 40 levels: a million million fields in 2 KB. */
export const doublingFragments = `{...F0} ${times(40, (i) => `fragment F${i} on Query{...F${i + 1} ...F${i + 1}}`)}
  fragment F40 on Query{__typename}`;
