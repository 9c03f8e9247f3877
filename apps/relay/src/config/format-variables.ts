import * as v from "valibot";
import { getRule, type Variable } from "./config-values.ts";
import { variables } from "./config-variables.ts";

/** Formats the variables for `--help`: the meaning of an unset one, its purpose and its rule. */
export function formatVariables(): string {
  return listVariables()
    .map(({ name, purpose, rule, fallback, unset }) => {
      const meaning = unset === undefined ? "required" : `unset: ${unset}`;
      const whenUnset = fallback === undefined ? meaning : `default ${fallback}`;
      return `${name} (${whenUnset})\n    ${purpose}. Must be ${rule}.`;
    })
    .join("\n");
}

interface VariableText {
  readonly name: string;
  readonly purpose: string;
  readonly rule: string;
  readonly fallback: string | undefined;
  readonly unset: string | undefined;
}

/** Lists the variables in their order, with the texts that describe them. */
export function listVariables(): VariableText[] {
  return Object.entries<Variable>(variables).map(([name, { purpose, schema, unset }]) => ({
    name,
    purpose,
    unset,
    rule: getRule(schema),
    fallback: v.getDefault(schema) as string | undefined,
  }));
}
