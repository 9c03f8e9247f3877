import { isJsonObject } from "@agent/crypto";

/**
 * Lists the members of a body as the audit shows them: what was done, but neither a prompt nor the parts of an
 * A2A message. The members of that message count as the body's, because details have few levels.
 */
export function omitTexts(body: unknown): Record<string, unknown> {
  if (!isJsonObject(body)) return {};
  const { prompt: _prompt, parts: _parts, ...members } = body;
  const nested = ["params", "message"].filter((name) => isJsonObject(members[name]));
  const inner = nested.map((name) => omitTexts(members[name]));
  const own = Object.entries(members).filter(([name]) => !nested.includes(name));
  return Object.assign(Object.fromEntries(own), ...inner) as Record<string, unknown>;
}
