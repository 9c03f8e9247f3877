import * as v from "valibot";

/**
 * Returns a copy of a schema with additional JSON Schema keywords, such as `description`. The copy
 * validates exactly like the original, at no extra cost, because only the conversion to JSON Schema reads
 * its `pipe`.
 */
export function annotateSchema<Schema extends v.GenericSchema>(
  schema: Schema,
  keywords: { readonly [keyword: string]: unknown },
): Schema {
  const steps: readonly unknown[] =
    "pipe" in schema && Array.isArray(schema.pipe) ? schema.pipe : [schema];
  return { ...schema, pipe: [...steps, v.metadata(keywords)] };
}

/** Returns a copy of a schema with a description: one sentence, with the unit and the encoding. */
export function describeAs<Schema extends v.GenericSchema>(
  schema: Schema,
  description: string,
): Schema {
  return annotateSchema(schema, { description });
}
