/** The members of a JSON object, which may be any values. */
export interface JsonMembers {
  readonly [member: string]: unknown;
}

/** Returns whether a value is an object and no array, as a JSON object is. */
export function isJsonObject(value: unknown): value is JsonMembers {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

/** Returns whether a value is an object without a class, which no array, date or map is. */
export function isPlainObject(value: unknown): value is object {
  if (typeof value !== "object" || value === null) return false;
  const prototype: unknown = Object.getPrototypeOf(value);
  return prototype === Object.prototype || prototype === null;
}
