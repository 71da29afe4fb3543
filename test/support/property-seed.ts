import fc from 'fast-check';

// Properties are tried on the same examples each run, so that a change fails for what it changed. To look further:
// PROPERTY_SEED=random or a number, PROPERTY_RUNS=1000.
const { PROPERTY_SEED: seed = '20261124', PROPERTY_RUNS: runs = '100' } = process.env;
fc.configureGlobal({ numRuns: Number(runs), ...(seed !== 'random' && { seed: Number(seed) }) });
