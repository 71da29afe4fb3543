// The same for four minutes.
process.env.MODEL_SECONDS ??= '240';
await import('./life.test.ts');
