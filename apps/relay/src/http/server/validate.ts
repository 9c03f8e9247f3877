import type { Issue, Refusal } from "@agent/wire";
import * as v from "valibot";

type Validated = { readonly ok: true; readonly value: unknown } | Refusal<"request.invalid">;

/** Checks a value by a schema. The refusal names each field and its rule, never the input. */
export function validate(schema: v.GenericSchema | undefined, value: unknown): Validated {
  if (schema === undefined) return { ok: true, value: undefined };
  const result = v.safeParse(schema, value);
  if (result.success) return { ok: true, value: result.output };
  const meant = findMeantOption(schema, value);
  const issues = meant === undefined ? result.issues : v.safeParse(meant, value).issues;
  return refuseIssues((issues ?? result.issues).flatMap(toIssues).slice(0, 20));
}

/**
 * Returns the option of a union of objects that has the most members in common with the value and, among
 * equals, lacks the fewest; undefined if several remain.
 */
function findMeantOption(schema: v.GenericSchema, value: unknown): v.GenericSchema | undefined {
  if (!("options" in schema) || typeof value !== "object" || value === null) return undefined;
  const given = Object.keys(value);
  const scored = (schema.options as v.GenericSchema[]).map((option) => {
    const known = "entries" in option ? Object.keys(option.entries as object) : [];
    const shared = known.filter((key) => given.includes(key)).length;
    return { option, shared, lacking: known.length - shared };
  });
  const most = Math.max(...scored.map(({ shared }) => shared));
  // A value without a known member is as far from one form as from the other.
  if (most === 0) return undefined;
  const best = scored.filter(({ shared }) => shared === most);
  const fewest = Math.min(...best.map(({ lacking }) => lacking));
  const closest = best.filter(({ lacking }) => lacking === fewest);
  return closest.length === 1 ? closest[0]?.option : undefined;
}

/** Builds a refusal for a fault that no schema finds. An empty path means the whole request. */
export function refuseField(path: string, message: string): Refusal<"request.invalid"> {
  return refuseIssues([{ path, message }]);
}

function refuseIssues(issues: readonly Issue[]): Refusal<"request.invalid"> {
  return {
    ok: false,
    code: "request.invalid",
    detail: issues
      .map(({ path, message }) => (path === "" ? message : `${path} ${message}`))
      .slice(0, 3)
      .join("; "),
    issues,
  };
}

function toIssues(issue: v.BaseIssue<unknown>): Issue[] {
  const path = v.getDotPath(issue) ?? "";
  // The issues of one option are more helpful than the issue of the whole union.
  if (issue.type !== "union" || issue.issues === undefined) {
    return [{ path, message: formatRule(issue) }];
  }
  return issue.issues.flatMap(toIssues).map((inner) => ({
    path: [path, inner.path].filter((part) => part !== "").join("."),
    message: inner.message,
  }));
}

function formatRule(issue: v.BaseIssue<unknown>): string {
  if (issue.received === "undefined") return "is required";
  // Only messages of this project are shown, because those of the library quote the input.
  if (issue.kind === "validation" || issue.type === "custom") return issue.message;
  if (issue.expected === null) return "is not allowed";
  // A bare word is a type such as `Object`; values are quoted.
  const expected = /^\w+$/.test(issue.expected) ? issue.expected.toLowerCase() : issue.expected;
  const values = expected.replaceAll('"', "'");
  const [, choice] = /^\((.*)\)$/s.exec(values) ?? [];
  return choice === undefined
    ? `must be ${values}`
    : `must be one of ${choice.replaceAll(" | ", ", ")}`;
}
