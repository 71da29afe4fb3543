import type { GraphQLSchema } from 'graphql';
import type { Measured } from './ground.ts';

/** Serves a graph by Mercurius with its JIT, on a loopback port. */
export declare function serveMercurius(options: { schema: GraphQLSchema; context: () => object }): Promise<Measured>;
