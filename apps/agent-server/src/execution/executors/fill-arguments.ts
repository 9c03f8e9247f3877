import { isJsonObject } from "@agent/crypto";
import * as v from "valibot";
import { parseJson } from "../../model/parse-json.ts";
import type { JsonObject, ToolDefinition } from "../../tools/definition.ts";
import { findPromptParameter } from "./direct.ts";

export type FillArgumentsResult =
  | { readonly ok: true; readonly args: JsonObject }
  | { readonly ok: false; readonly missing: string };

const Property = v.object({
  type: v.optional(v.string()),
  enum: v.optional(v.array(v.unknown())),
});

/**
 * Fills a tool's arguments. `text` is used unchanged if it is a JSON object that fits the schema. Otherwise
 * the prompt is searched for `name: value` or `name=value`, choices by their value and numbers in their
 * order, and the main text parameter gets `text`.
 */
export function fillArguments(
  tool: Pick<ToolDefinition, "name" | "inputSchema">,
  prompt: string,
  text: string,
): FillArgumentsResult {
  const properties = parseProperties(tool);
  const required = parseRequired(tool);
  const given = parseJson(text);
  if (isJsonObject(given) && fitsSchema(given, properties, required))
    return { ok: true, args: given };

  const mainParameter = findPromptParameter(tool);
  const numbers = extractNumbers(prompt);
  const args = new Map<string, unknown>();
  for (const [name, { type, enum: choices }] of properties) {
    const named = findNamedValue(name, prompt, name === mainParameter);
    const value =
      choices === undefined
        ? convertValue(named, type, required.includes(name) ? numbers : [])
        : choices.find((choice) => mentionsChoice(named ?? prompt, String(choice)));
    if (value !== undefined) args.set(name, value);
    else if (name === mainParameter) args.set(name, removeToolName(text, tool.name));
    else if (required.includes(name)) return { ok: false, missing: name };
  }
  return { ok: true, args: Object.fromEntries(args) };
}

/** Converts the named text to the type; a number without a name is the next of `numbers`. */
function convertValue(
  text: string | undefined,
  type: string | undefined,
  numbers: string[],
): unknown {
  switch (type ?? "") {
    case "string":
      return text;
    case "number":
    case "integer": {
      const digits = text ?? numbers.shift();
      return digits !== undefined && isNumber(digits) ? Number(digits) : undefined;
    }
    case "boolean":
      return text === "true" ? true : text === "false" ? false : undefined;
    default:
      return undefined;
  }
}

/**
 * Finds the value of a name in the prompt. The main text parameter may hold many words, so only
 * quotes mark its end.
 */
function findNamedValue(name: string, prompt: string, onlyQuoted: boolean): string | undefined {
  const label = name.replace(/[^\p{L}\p{N}_]/gu, "\\$&");
  const unquoted = onlyQuoted ? "(?!)" : "[^\\s,;\"']+";
  const found = new RegExp(
    `(?<![\\p{L}\\p{N}_])${label}\\s*[:=]\\s*(?:"([^"]*)"|'([^']*)'|(${unquoted}))`,
    "iu",
  ).exec(prompt);
  return found?.[1] ?? found?.[2] ?? found?.[3];
}

function extractNumbers(prompt: string): string[] {
  return prompt.match(/(?<![\p{L}\p{N}.])-?\d+(?:\.\d+)?(?![\p{L}\p{N}])/gu) ?? [];
}

function isNumber(text: string): boolean {
  return /^-?\d+(\.\d+)?$/.test(text);
}

function mentionsChoice(text: string, choice: string): boolean {
  return ` ${text.toLowerCase().replaceAll(/[^\p{L}\p{N}_-]+/gu, " ")} `.includes(
    ` ${choice.toLowerCase()} `,
  );
}

/**
 * Strips the name of the tool: both "shout: hello" and "shout hello" pass `hello` to the tool
 * `shout`.
 */
function removeToolName(text: string, name: string): string {
  const rest = text.slice(name.length);
  const startsWithName =
    text.toLowerCase().startsWith(name.toLowerCase()) && /^\s*:|^\s/.test(rest);
  const content = startsWithName ? rest.replace(/^\s*:?\s*/, "") : text;
  return /^"[^"]*"$/.test(content) ? content.slice(1, -1) : content;
}

function fitsSchema(
  given: JsonObject,
  properties: ReadonlyMap<string, unknown>,
  required: readonly string[],
): boolean {
  return (
    required.every((name) => Object.hasOwn(given, name)) &&
    Object.keys(given).every((name) => properties.has(name))
  );
}

function parseProperties({ inputSchema }: Pick<ToolDefinition, "inputSchema">) {
  const parsed = v.safeParse(v.record(v.string(), v.unknown()), inputSchema["properties"]);
  const entries = Object.entries(parsed.success ? parsed.output : {});
  return new Map(
    entries.map(([name, schema]) => {
      const property = v.safeParse(Property, schema);
      return [name, property.success ? property.output : {}];
    }),
  );
}

function parseRequired({ inputSchema }: Pick<ToolDefinition, "inputSchema">): string[] {
  const parsed = v.safeParse(v.array(v.string()), inputSchema["required"]);
  return parsed.success ? parsed.output : [];
}
