import { limits } from "@agent/wire";

/** The nesting that the canonical form allows; deeper arguments could not be approved. */
const MAX_DEPTH = 64;
const MAX_VALUES = 100_000;
const MAX_CHARACTERS = limits.requestBytes;

/**
 * Returns the fault of arguments that are too large, or undefined. The size is checked before any
 * schema, whose cost grows with the arguments.
 */
export function checkArgumentSize(args: unknown): string | undefined {
  let values = 0;
  let characters = 0;
  const open: { readonly value: unknown; readonly depth: number }[] = [{ value: args, depth: 1 }];
  for (let next = open.pop(); next !== undefined; next = open.pop()) {
    const { value, depth } = next;
    values++;
    if (typeof value === "string") characters += value.length;
    if (typeof value === "object" && value !== null) {
      if (depth > MAX_DEPTH) return `must be nested at most ${MAX_DEPTH} levels deep`;
      for (const [name, member] of Object.entries(value)) {
        if (!Array.isArray(value)) characters += name.length;
        open.push({ value: member, depth: depth + 1 });
        if (values + open.length > MAX_VALUES) return `must hold at most ${MAX_VALUES} values`;
      }
    }
    if (characters > MAX_CHARACTERS) return `must hold at most ${MAX_CHARACTERS} characters`;
  }
  return undefined;
}
