import { sql, type RawBuilder } from "kysely";
import { param } from "./compiled-query.ts";

/** Returns the filter of a list by a column; an empty parameter matches every row. */
export function matchesIfGiven(parameter: string, column = parameter): RawBuilder<boolean> {
  return sql<boolean>`(${param(parameter)} = '' or ${sql.ref(column)} = ${param(parameter)})`;
}
