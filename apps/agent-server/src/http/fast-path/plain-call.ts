/** A `tools/call` of the older era with only a name and arguments. */
export interface PlainCall {
  readonly id: string | number;
  readonly name: string;
  readonly arguments?: object;
}

/**
 * Parses a plain call. Undefined is not a refusal: the official library handles all other messages.
 */
export function parsePlainCall(text: string): PlainCall | undefined {
  const message = parseJsonObject(text);
  if (message === undefined || Object.keys(message).length !== 4) return undefined;
  const { jsonrpc, id, method, params } = message;
  if (jsonrpc !== "2.0" || method !== "tools/call" || !isObject(params)) return undefined;
  if (typeof id !== "string" && !Number.isSafeInteger(id)) return undefined;

  const { name, arguments: args } = params;
  if (typeof name !== "string") return undefined;
  const call = { id: id as string | number, name };
  const members = Object.keys(params).length;
  if (members === 1) return call;
  return members === 2 && isObject(args) ? { ...call, arguments: args } : undefined;
}

type JsonMembers = { readonly [member: string]: unknown };

function parseJsonObject(text: string): JsonMembers | undefined {
  try {
    const value: unknown = JSON.parse(text);
    return isObject(value) ? value : undefined;
  } catch {
    return undefined;
  }
}

function isObject(value: unknown): value is JsonMembers {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}
