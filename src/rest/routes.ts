import type { Route } from './route.ts';
import { stockBars } from './routes/stock-bars.ts';

/** The route table. More specific paths come before those with parameters. */
export const routes: readonly Route[] = [stockBars];
