import { types, type CustomTypesConfig } from "pg";
import { unescapeText } from "./escape-text.ts";

/** Reads a value as SQLite would return it: every number is a number, a boolean is 0 or 1. */
const parsers = new Map<number, (text: string) => unknown>([
  [types.builtins.BOOL, (text) => (text === "t" ? 1 : 0)],
  [types.builtins.INT2, Number],
  [types.builtins.INT4, Number],
  [types.builtins.INT8, parseNumber],
  [types.builtins.NUMERIC, parseNumber],
  [types.builtins.FLOAT4, Number],
  [types.builtins.FLOAT8, Number],
  [types.builtins.TEXT, unescapeText],
  [types.builtins.VARCHAR, unescapeText],
]);

export const valueTypes: CustomTypesConfig = {
  getTypeParser: (oid: number, format?: "text" | "binary") =>
    parsers.get(oid) ?? types.getTypeParser(oid, format),
};

/** Throws for a whole number that a number cannot hold exactly, because it may be an amount. */
function parseNumber(text: string): number {
  const number = Number(text);
  if (Number.isInteger(number) && !Number.isSafeInteger(number)) {
    throw new RangeError("a stored number is beyond 2^53");
  }
  return number;
}
