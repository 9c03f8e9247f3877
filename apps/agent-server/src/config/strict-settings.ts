import * as v from "valibot";

/** What is said of a name that no setting has. */
export const UNKNOWN_SETTING = "is not a known setting";

/** An object of settings in which a misspelt name is refused: it would silently change nothing. */
export function strictSettings<const E extends v.ObjectEntries>(entries: E) {
  return v.strictObject(entries, ({ expected, received }) => {
    if (expected === "never") return UNKNOWN_SETTING;
    return received === "undefined" ? "is required" : "must be an object";
  });
}
