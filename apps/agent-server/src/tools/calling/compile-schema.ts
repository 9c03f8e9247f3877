import { canonicalize } from "@agent/crypto";
import { Ajv, type Options } from "ajv";
import { Ajv2019 } from "ajv/dist/2019.js";
import { Ajv2020 } from "ajv/dist/2020.js";
import formats from "ajv-formats";
import type { JsonObject } from "../definition.ts";
import { compileLinearPattern } from "./compile-linear-pattern.ts";
import { formatSchemaFaults } from "./format-schema-faults.ts";
import { runWithTimeout } from "./run-with-timeout.ts";

export type CheckValue = (
  value: unknown,
) => { readonly ok: true } | { readonly ok: false; readonly fault: string };

const OPTIONS: Options = {
  strict: false,
  validateFormats: true,
  validateSchema: false,
  allErrors: true,
  code: {
    regExp: Object.assign((pattern: string) => compileLinearPattern(pattern), { code: "linear" }),
  },
};

/** Dialects by the prefix of their `$schema`; the default is the newest. */
const DIALECTS: readonly (readonly [prefix: string, make: () => Ajv])[] = [
  ["https://json-schema.org/draft/2020-12/", () => new Ajv2020(OPTIONS)],
  ["https://json-schema.org/draft/2019-09/", () => new Ajv2019(OPTIONS)],
  ["http://json-schema.org/draft-07/", () => new Ajv(OPTIONS)],
  ["http://json-schema.org/draft-06/", () => new Ajv(OPTIONS)],
];
/** Ordinary arguments take a hundredth of this time. */
const MAX_CHECK_MS = 500;
const engines = new Map<string, Ajv>();

/**
 * Compiles a JSON Schema into a check whose time is linear in the value. A schema that refers to
 * itself gets a time limit, because alternatives at each level take time exponential in the depth.
 * Throws for an unusable schema, with `UnsupportedPattern` for a pattern without a linear form.
 */
export function compileSchema(schema: JsonObject): CheckValue {
  const engine = getEngine(schema["$schema"]);
  const validate = engine.compile(schema);
  // Another tool may have a schema with the same id.
  if (typeof schema["$id"] === "string") engine.removeSchema(schema["$id"]);
  const check: CheckValue = (value) =>
    validate(value)
      ? { ok: true }
      : { ok: false, fault: formatSchemaFaults(validate.errors ?? []) };
  return hasReferences(schema) ? limitCheckTime(check) : check;
}

/** Returns true also for members that are only named like a reference, which is safe. */
function hasReferences(schema: JsonObject): boolean {
  return /"\$(?:dynamicRef|recursiveRef|ref)":/.test(JSON.stringify(schema));
}

function limitCheckTime(check: CheckValue): CheckValue {
  return (value) => {
    try {
      return runWithTimeout(() => check(value), MAX_CHECK_MS) ?? TOO_SLOW_RESULT;
    } catch (cause) {
      // A schema that refers to itself at the same level of the value never ends.
      if (cause instanceof RangeError) return TOO_SLOW_RESULT;
      throw cause;
    }
  };
}

const TOO_SLOW_RESULT = {
  ok: false,
  fault: `took more than ${MAX_CHECK_MS} ms to be checked`,
} as const;

function getEngine(dialect: unknown): Ajv {
  const named = typeof dialect === "string" ? dialect : DIALECTS[0]?.[0];
  const found = DIALECTS.find(([prefix]) => named?.startsWith(prefix) === true);
  if (found === undefined) throw new Error(`unknown dialect ${JSON.stringify(dialect)}`);
  const [prefix, make] = found;
  const engine = engines.get(prefix) ?? prepareEngine(make());
  engines.set(prefix, engine);
  return engine;
}

/** Replaces the library's `uniqueItems`, which compares every pair of items. */
function prepareEngine(ajv: Ajv): Ajv {
  formats.default(ajv);
  ajv.removeKeyword("uniqueItems");
  ajv.addKeyword({
    keyword: "uniqueItems",
    type: "array",
    schemaType: "boolean",
    compile: (wanted: boolean) => (items: readonly unknown[]) => !wanted || areDistinct(items),
    error: { message: "must NOT have duplicate items" },
  });
  return ajv;
}

function areDistinct(items: readonly unknown[]): boolean {
  const texts = items.filter((item) => typeof item === "string");
  // A text is equal to the same text only, so that most texts need no canonical form.
  if (new Set(texts).size < texts.length) return false;
  const others = items.filter((item) => typeof item !== "string");
  try {
    return new Set(others.map((item) => canonicalize(item))).size === others.length;
  } catch {
    // Items without a canonical form are refused after this check, because they could not be
    // approved.
    return true;
  }
}
