import { defaultFieldResolver, type GraphQLObjectType, type GraphQLSchema } from 'graphql';
import type { SpanOf } from './tracing.ts';

/** Lets every field that a query or a mutation begins with be a span. Fields below appear through their statements. */
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
