import { limits } from "@agent/wire";

/** The nesting that the canonical form allows; deeper arguments could not be approved. */
const MAX_DEPTH = 64;
/** Reading, checking and hashing so many values stops the event loop for about 2 ms. */
export const MAX_ARGUMENT_VALUES = 10_000;
const MAX_CHARACTERS = limits.requestBytes;
/** Larger arguments take several ms, which is too long for one turn of the event loop. */
const MAX_TURN_VALUES = 1_000;
const MAX_TURN_CHARACTERS = 65_536;

const FAULTS = {
  depth: `\`arguments\` must be nested at most ${MAX_DEPTH} levels deep`,
  values: `\`arguments\` must hold at most ${MAX_ARGUMENT_VALUES} values`,
  characters: `\`arguments\` must hold at most ${MAX_CHARACTERS} characters`,
} as const;

/** Stands for arguments that were not read from a message, because they hold too many values. */
export const UNREAD_ARGUMENTS: object = Object.freeze({});

export type ArgumentSizeCheck =
  /** `isLarge`: other work must run between the steps of the call. */
  { readonly ok: true; readonly isLarge: boolean } | { readonly ok: false; readonly fault: string };

/**
 * Refuses arguments that are too large. The size is checked before any schema, whose cost grows
 * with the arguments.
 */
export function checkArgumentSize(args: unknown): ArgumentSizeCheck {
  if (args === UNREAD_ARGUMENTS) return { ok: false, fault: FAULTS.values };
  const size = { values: 0, characters: 0 };
  const fault = findFault(args, 1, size);
  if (fault !== undefined) return { ok: false, fault: FAULTS[fault] };
  const isLarge = size.values > MAX_TURN_VALUES || size.characters > MAX_TURN_CHARACTERS;
  return { ok: true, isLarge };
}

function findFault(
  value: unknown,
  depth: number,
  size: { values: number; characters: number },
): keyof typeof FAULTS | undefined {
  if (typeof value === "string") size.characters += value.length;
  else if (typeof value === "object" && value !== null) {
    if (depth > MAX_DEPTH) return "depth";
    const names = Array.isArray(value) ? [] : Object.keys(value);
    const members: readonly unknown[] = Array.isArray(value) ? value : Object.values(value);
    size.values += members.length;
    if (size.values > MAX_ARGUMENT_VALUES) return "values";
    for (const name of names) size.characters += name.length;
    for (const member of members) {
      const fault = findFault(member, depth + 1, size);
      if (fault !== undefined) return fault;
    }
  }
  return size.characters > MAX_CHARACTERS ? "characters" : undefined;
}
