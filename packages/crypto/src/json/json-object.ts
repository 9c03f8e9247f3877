/** The members of a JSON object, which may be any values. */
export interface JsonMembers {
  readonly [member: string]: unknown;
}

/** Returns whether a value is an object but not an array, like a JSON object. */
export function isJsonObject(value: unknown): value is JsonMembers {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

/** Returns whether a value is an object without a class, so not an array, a date or a map. */
export function isPlainObject(value: unknown): value is object {
  if (typeof value !== "object" || value === null) return false;
  const prototype: unknown = Object.getPrototypeOf(value);
  return prototype === Object.prototype || prototype === null;
}
