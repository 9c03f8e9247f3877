import { canonicalize } from "@agent/crypto";
import { Ajv, type Options } from "ajv";
import { Ajv2019 } from "ajv/dist/2019.js";
import { Ajv2020 } from "ajv/dist/2020.js";
import formats from "ajv-formats";
import type { JsonObject } from "../definition.ts";
import { compileLinearPattern } from "./compile-linear-pattern.ts";
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

/** Dialects by the beginning of their `$schema`; without one the newest is meant. */
const DIALECTS: readonly (readonly [prefix: string, make: () => Ajv])[] = [
  ["https://json-schema.org/draft/2020-12/", () => new Ajv2020(OPTIONS)],
  ["https://json-schema.org/draft/2019-09/", () => new Ajv2019(OPTIONS)],
  ["http://json-schema.org/draft-07/", () => new Ajv(OPTIONS)],
  ["http://json-schema.org/draft-06/", () => new Ajv(OPTIONS)],
];
/** Arguments that are not made to be slow take a hundredth of it. */
const MAX_CHECK_MS = 500;
const engines = new Map<string, Ajv>();

/**
 * Compiles a JSON Schema into a check whose time grows with the value and not faster, or is bounded where
 * the schema refers to itself: alternatives in each level take a time that is exponential in the depth.
 * Throws when the schema is unusable, `UnsupportedPattern` when a pattern of it has no linear form.
 */
export function compileSchema(schema: JsonObject): CheckValue {
  const engine = getEngine(schema["$schema"]);
  const validate = engine.compile(schema);
  // Another tool may have a schema of the same name.
  if (typeof schema["$id"] === "string") engine.removeSchema(schema["$id"]);
  const check: CheckValue = (value) =>
    validate(value) ? { ok: true } : { ok: false, fault: engine.errorsText(validate.errors) };
  return hasReferences(schema) ? limitCheckTime(check) : check;
}

/** Over-cautious: what is only named like a reference is taken for one. */
function hasReferences(schema: JsonObject): boolean {
  return /"\$(?:dynamicRef|recursiveRef|ref)":/.test(JSON.stringify(schema));
}

function limitCheckTime(check: CheckValue): CheckValue {
  return (value) => {
    try {
      return runWithTimeout(() => check(value), MAX_CHECK_MS) ?? tooSlowResult;
    } catch (cause) {
      // A schema that refers to itself without going deeper into the value never ends.
      if (cause instanceof RangeError) return tooSlowResult;
      throw cause;
    }
  };
}

const tooSlowResult = {
  ok: false,
  fault: `took more than ${MAX_CHECK_MS} ms to be checked`,
} as const;

function getEngine(dialect: unknown): Ajv {
  const named = typeof dialect === "string" ? dialect : DIALECTS[0]?.[0];
  const found = DIALECTS.find(([prefix]) => named?.startsWith(prefix) === true);
  if (found === undefined) throw new Error(`the dialect ${JSON.stringify(dialect)} is not known`);
  const [prefix, make] = found;
  const engine = engines.get(prefix) ?? prepareEngine(make());
  engines.set(prefix, engine);
  return engine;
}

/** The library compares each item with each other one. */
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
  try {
    return new Set(items.map((item) => canonicalize(item))).size === items.length;
  } catch {
    // What has no canonical form is refused behind this check, because it could not be approved.
    return true;
  }
}
