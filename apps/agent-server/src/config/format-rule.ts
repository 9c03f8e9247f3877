import type { BaseIssue } from "valibot";

/** What a value has to be, without quoting it: where a schema has no text of its own, the library's would. */
export function formatRule({ message, expected, received }: BaseIssue<unknown>): string {
  if (!/^Invalid \w+: /.test(message)) return message;
  if (received === "undefined") return "is required";
  if (expected === null) return "is not allowed";
  // A bare word is a type such as `Object`; a value stands in quotes.
  return `must be ${/^\w+$/.test(expected) ? expected.toLowerCase() : expected}`;
}
