import { formatError } from "@agent/crypto";
import { pathToFileURL } from "node:url";
import * as v from "valibot";
import { compileTool } from "./calling/compile-tool.ts";
import type { Tool } from "./definition.ts";
import { formatRule } from "../config/format-rule.ts";
import type { RegisteredTool } from "./registry.ts";
import { UnsupportedPattern } from "./calling/compile-linear-pattern.ts";
import { isToolName, TOOL_NAME_RULE } from "./tool-name.ts";

const ToolShape = v.looseObject({
  definition: v.looseObject({
    name: v.pipe(v.string(), v.check(isToolName, TOOL_NAME_RULE)),
    description: v.string(),
    inputSchema: v.looseObject({ type: v.literal("object") }),
    risk: v.optional(v.picklist([0, 1, 2, 3, 4], "must be a whole number from 0 to 4")),
  }),
  handler: v.function(),
});

function isTool(value: unknown): value is Tool {
  return v.is(ToolShape, value);
}

function listFaults(value: unknown, name: string): string[] {
  const issues = v.safeParse(ToolShape, value).issues ?? [];
  return issues.map((issue) => `${name}.${v.getDotPath(issue) ?? ""}: ${formatRule(issue)}`);
}

type LoadToolsResult =
  | {
      ok: true;
      tools: RegisteredTool[];
      /** One line for each tool that cannot be offered, with the reason. */
      skipped: string[];
    }
  | { ok: false; faults: string[] };

/** Parses the exports of a tools module; reports all faults of all entries. */
export function parseTools(exported: unknown, source: string): LoadToolsResult {
  if (!Array.isArray(exported)) {
    return {
      ok: false,
      faults: [`${source}: must export an array of tools (default or "tools")`],
    };
  }
  const tools: RegisteredTool[] = [];
  const faults: string[] = [];
  const skipped: string[] = [];
  for (const [index, entry] of exported.entries()) {
    const name = `${source}: tools.${index}`;
    if (!isTool(entry)) {
      faults.push(...listFaults(entry, name));
      continue;
    }
    try {
      tools.push(compileTool(entry));
    } catch (cause) {
      if (cause instanceof UnsupportedPattern) {
        skipped.push(`${source}: tool "${entry.definition.name}" is skipped: ${cause.message}`);
      } else faults.push(`${name}.definition.inputSchema: ${formatError(cause)}`);
    }
  }
  return faults.length > 0 ? { ok: false, faults } : { ok: true, tools, skipped };
}

/** Imports a tools module by its absolute path; the default export has precedence over `tools`. */
export async function loadToolsModule(path: string): Promise<LoadToolsResult> {
  try {
    const module: unknown = await import(pathToFileURL(path).href);
    return parseTools(getExportedTools(module), path);
  } catch (cause) {
    return { ok: false, faults: [`${path}: cannot be loaded: ${formatError(cause)}`] };
  }
}

function getExportedTools(module: unknown): unknown {
  if (typeof module !== "object" || module === null) return undefined;
  if ("default" in module) return module.default;
  return "tools" in module ? module.tools : undefined;
}
