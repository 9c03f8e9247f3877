import type { BaseIssue } from "valibot";

/**
 * Formats what a value must be, without the value. A schema without its own text would get the
 * library's, which quotes it.
 */
export function formatRule(issue: BaseIssue<unknown>): string {
  const { message, expected, received } = issue;
  if (!/^Invalid \w+: /.test(message)) return message;
  if (received === "undefined") return "is required";
  if (expected === null || expected === "never") return "is not allowed";
  const bound = /^([<>])=(\d+)$/.exec(expected);
  if (bound !== null && message.startsWith("Invalid length: ")) {
    const unit = typeof issue.input === "string" ? "characters" : "items";
    return `must have at ${bound[1] === "<" ? "most" : "least"} ${bound[2]} ${unit}`;
  }
  // A bare word is a type such as `Object`; an expected value is in quotes, several are `("a" | "b")`.
  if (/^\w+$/.test(expected)) return `must be ${expected.toLowerCase()}`;
  return `must be ${expected.replace(/^\((.*)\)$/, "$1").replaceAll(" | ", " or ")}`;
}
