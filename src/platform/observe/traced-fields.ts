import { defaultFieldResolver, type GraphQLObjectType, type GraphQLSchema } from 'graphql';
import type { SpanOf } from './tracing.ts';

/** Records every root field of a query or a mutation as a span. Fields below are visible by their statements. */
export function traceRootFields(schema: GraphQLSchema, span: SpanOf): void {
  const roots = [schema.getQueryType(), schema.getMutationType()];
  for (const type of roots.filter((root): root is GraphQLObjectType => root != null)) {
    for (const field of Object.values(type.getFields())) {
      const resolve = field.resolve ?? defaultFieldResolver;
      field.resolve = (source, args, context, info) =>
        span(`field ${field.name}`, { 'graphql.field.name': field.name }, () => resolve(source, args, context, info));
    }
  }
}
