import { estimateTool } from './estimate-tool.ts';
import { graphqlTool } from './graphql-tool.ts';
import type { Tool } from './tools.ts';

/** The tools that stand beside those of the routes: no route may have the name of one. */
export const builtInTools: readonly Tool[] = [graphqlTool, estimateTool];
