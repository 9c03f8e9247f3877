import type { ErrorObject } from "ajv";

/** A value can break a rule at each of its members; more than these help no caller. */
const MAX_FAULTS = 20;

/**
 * Formats the rules of a JSON Schema that a value breaks, each behind the name of its member. The text of the library
 * names neither a member that is not allowed nor the values that are.
 */
export function formatSchemaFaults(errors: readonly ErrorObject[]): string {
  const faults = errors.slice(0, MAX_FAULTS).map(formatFault);
  if (errors.length > MAX_FAULTS) faults.push(`and ${errors.length - MAX_FAULTS} more`);
  return faults.join("; ");
}

function formatFault({ instancePath, keyword, params, message = "is not valid" }: ErrorObject) {
  const path = instancePath.split("/").slice(1).map(unescapePointer);
  const { missingProperty, additionalProperty, unevaluatedProperty } = params as FaultParameters;
  if (missingProperty !== undefined && keyword === "required") {
    return formatLine([...path, missingProperty], "is required");
  }
  const surplus = additionalProperty ?? unevaluatedProperty;
  if (surplus !== undefined) return formatLine([...path, surplus], "is not allowed");
  return formatLine(path, formatRule(keyword, params) ?? message);
}

/** The members of a fault's parameters that name a member of the value. */
interface FaultParameters {
  readonly missingProperty?: string;
  readonly additionalProperty?: string;
  readonly unevaluatedProperty?: string;
}

function formatRule(keyword: string, { allowedValues, allowedValue }: ErrorObject["params"]) {
  if (keyword === "enum") {
    const values = (allowedValues as readonly unknown[]).map((value) => JSON.stringify(value));
    return `must be one of ${values.join(", ")}`;
  }
  return keyword === "const" ? `must be ${JSON.stringify(allowedValue)}` : undefined;
}

const formatLine = (path: readonly string[], rule: string) =>
  path.length === 0 ? rule : `${path.join(".")}: ${rule}`;

/** Reads one part of a JSON Pointer (RFC 6901). */
const unescapePointer = (part: string) => part.replaceAll("~1", "/").replaceAll("~0", "~");
