import type { BaseIssue } from "valibot";

/**
 * Formats what a value must be, without the value. A schema without its own text would get the
 * library's, which quotes it.
 */
export function formatRule({ message, expected, received }: BaseIssue<unknown>): string {
  if (!/^Invalid \w+: /.test(message)) return message;
  if (received === "undefined") return "is required";
  if (expected === null) return "is not allowed";
  // A bare word is a type such as `Object`; an expected value is in quotes.
  return `must be ${/^\w+$/.test(expected) ? expected.toLowerCase() : expected}`;
}
