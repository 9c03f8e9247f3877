import * as v from "valibot";

/** The fault of an unknown setting. */
export const UNKNOWN_SETTING = "is not a known setting";

/** Builds an object schema that refuses unknown names, because a misspelt setting would have no effect. */
export function strictSettings<const E extends v.ObjectEntries>(entries: E) {
  const example = `{"${Object.keys(entries)[0]}": ...}`;
  return v.strictObject(entries, ({ expected, received }) => {
    if (expected === "never") return UNKNOWN_SETTING;
    return received === "undefined" ? "is required" : `must be an object such as ${example}`;
  });
}
