import './scalars.ts';
import './response-meta.ts';
import './symbol.ts';
import './symbol-connection.ts';
import './registry.ts';
import './quotes.ts';
import './spot.ts';
import './sectors.ts';
import './me.ts';
import './stock-bars.ts';
import './contract.ts';
import './contract-connection.ts';
import './chain.ts';
import './gex.ts';
import './usage.ts';
import './declaration.ts';
import './api-keys.ts';
import './option-bars.ts';
import './greeks.ts';
import './flow.ts';
import './large-trades.ts';
import './cross-section.ts';
import './eod-prints.ts';
import './off-exchange.ts';
import './watchlists.ts';
import { builder } from './builder.ts';

/** The executable graph. */
export const schema = builder.toSchema();
