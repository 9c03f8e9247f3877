import { isJsonObject } from "@agent/crypto";
import { parseJson } from "../../model/parse-json.ts";
import type { JsonObject, ToolDefinition } from "../../tools/definition.ts";
import { isToolName } from "../../tools/tool-name.ts";

export interface NamedCall {
  readonly tool: string;
  readonly args: JsonObject;
}

/**
 * Parses a prompt that is a call of one tool: `{"tool": name, "arguments": {...}}`, `name {...}`,
 * `name key=value ...` or the name alone. `typeOf` returns the type of an argument, if it is known.
 */
export function parseNamedCall(
  prompt: string,
  typeOf: (tool: string, key: string) => unknown,
): NamedCall | undefined {
  const text = prompt.trim();
  if (text.startsWith("{")) return parseCallObject(parseJson(text));
  const end = text.search(/\s|$/);
  const tool = text.slice(0, end);
  if (!isToolName(tool)) return undefined;
  const rest = text.slice(end).trim();
  const args = rest.startsWith("{")
    ? parseJson(rest)
    : parsePairs(rest, (key) => typeOf(tool, key));
  return isJsonObject(args) ? { tool, args } : undefined;
}

/** Creates the lookup of argument types in the tools' schemas for `parseNamedCall`. */
export function createArgumentTypeLookup(tools: readonly ToolDefinition[]) {
  return (tool: string, key: string): unknown => {
    const properties = tools.find(({ name }) => name === tool)?.inputSchema["properties"];
    const property = isJsonObject(properties) && Object.hasOwn(properties, key) && properties[key];
    return isJsonObject(property) ? property["type"] : undefined;
  };
}

function parseCallObject(value: unknown): NamedCall | undefined {
  if (!isJsonObject(value)) return undefined;
  const { tool, arguments: args = {}, ...others } = value;
  const isCall = typeof tool === "string" && isJsonObject(args) && Object.keys(others).length === 0;
  return isCall ? { tool, args } : undefined;
}

function parsePairs(text: string, typeOf: (key: string) => unknown): JsonObject | undefined {
  const pair = /([^\s=]+)=(?:"([^"]*)"|'([^']*)'|([^\s"']*))(?:\s+|$)/y;
  const args = new Map<string, unknown>();
  while (pair.lastIndex < text.length) {
    const [, key, double, single, plain] = pair.exec(text) ?? [];
    if (key === undefined) return undefined;
    args.set(key, convertValue(double ?? single ?? plain ?? "", typeOf(key)));
  }
  return Object.fromEntries(args);
}

/**
 * Converts a text to its type. A text that does not fit stays one, and the tool's schema refuses
 * it.
 */
function convertValue(text: string, type: unknown): unknown {
  if (type === "string" || type === undefined) return text;
  return parseJson(text) ?? text;
}
