import { canonicalize } from "@agent/crypto";
import { isMissingFile } from "@agent/crypto/private-file";
import type { Tool } from "@modelcontextprotocol/client";
import { readFileSync } from "node:fs";
import { dirname } from "node:path";
import * as v from "valibot";
import { createReloadingFile } from "../files/reloading-file.ts";
import { parseJson } from "../model/parse-json.ts";
import { createPrivateFolder, writePrivateFile } from "../files/private-file.ts";
import type { Runtime } from "../runtime.ts";

/** The parts of a tool that models and callers rely on: its schemas and its texts. */
export type ToolShape = Pick<
  Tool,
  "title" | "description" | "inputSchema" | "outputSchema" | "annotations"
>;

/** The tools of wrapped servers that the owner has confirmed. */
export interface ConfirmedTools {
  /** Returns undefined for a tool that was never seen. */
  get(server: string, tool: string): ToolShape | undefined;
  /** Confirms these tools; they are in the file when this resolves, unless writing failed. */
  confirm(tools: readonly (readonly [server: string, tool: Tool])[]): Promise<void>;
}

const ToolShapeSchema = v.looseObject({
  inputSchema: v.looseObject({ type: v.literal("object") }),
});
const ConfirmedToolsFile = v.object({
  tools: v.array(v.tuple([v.string(), v.string(), ToolShapeSchema])),
});

type ToolShapes = ReadonlyMap<string, ToolShape>;

/** Opens the confirmed tools; without a path they live in this process only. */
export function openConfirmedTools(
  path: string | undefined,
  runtime: Pick<Runtime, "log">,
): ConfirmedTools {
  let known: ToolShapes = new Map();
  const readFromFile =
    path !== undefined &&
    createReloadingFile({ path, initial: known, parse: parseShapes, runtime: silentRuntime });
  const current = (): ToolShapes => (readFromFile === false ? known : readFromFile());

  async function saveShapes(shapes: ToolShapes): Promise<void> {
    known = shapes;
    if (path === undefined) return;
    try {
      await createPrivateFolder(dirname(path));
      const tools = [...shapes].map(([name, shape]) => [...parseToolKey(name), shape]);
      await writePrivateFile(path, { tools });
    } catch (cause) {
      runtime.log("warn", "tools.not_kept", { cause: String(cause) });
    }
  }

  return {
    get: (server, tool) =>
      current().get(buildToolKey(server, tool)) ?? known.get(buildToolKey(server, tool)),
    async confirm(tools) {
      const confirmedShapes = tools.map(
        ([server, tool]) => [buildToolKey(server, tool.name), getToolShape(tool)] as const,
      );
      if (confirmedShapes.length > 0)
        await saveShapes(new Map([...known, ...current(), ...confirmedShapes]));
    },
  };
}

/** The file does not exist at the first start, which needs no warning. */
const silentRuntime = { log: () => {} };

export function getToolShape(tool: Tool): ToolShape {
  const { title, description, inputSchema, outputSchema, annotations } = tool;
  return {
    inputSchema,
    ...(title !== undefined && { title }),
    ...(description !== undefined && { description }),
    ...(outputSchema !== undefined && { outputSchema }),
    ...(annotations !== undefined && { annotations }),
  };
}

/** Lists the members in which two shapes differ, as `name: before -> after`. */
export function listDifferences(before: ToolShape, after: ToolShape): string[] {
  const members = ["title", "description", "inputSchema", "outputSchema", "annotations"] as const;
  return members.flatMap((member) => {
    const [was, is] = [formatValue(before[member]), formatValue(after[member])];
    return was === is ? [] : [`${member}: ${was} -> ${is}`];
  });
}

/**
 * Formats a value for a terminal, where the server's control characters must not erase what the owner is
 * asked to confirm. A server's schema may contain values without a canonical form.
 */
function formatValue(value: unknown): string {
  if (value === undefined) return "(none)";
  return toJson(value).replaceAll(
    /[\p{C}\p{Zl}\p{Zp}]/gu,
    (character) => `\\u{${character.codePointAt(0)?.toString(16) ?? ""}}`,
  );
}

function toJson(value: unknown): string {
  try {
    return canonicalize(value);
  } catch {
    return JSON.stringify(value);
  }
}

function parseShapes(text: string): ToolShapes | undefined {
  const parsed = v.safeParse(ConfirmedToolsFile, parseJson(text));
  if (!parsed.success) return undefined;
  return new Map(
    parsed.output.tools.map(([server, tool, shape]) => [
      buildToolKey(server, tool),
      shape as ToolShape,
    ]),
  );
}

/** Builds a key. A tool's name has no blanks, so the last blank separates it from the server's. */
function buildToolKey(server: string, tool: string): string {
  return `${server} ${tool}`;
}

function parseToolKey(name: string): [string, string] {
  const at = name.lastIndexOf(" ");
  return [name.slice(0, at), name.slice(at + 1)];
}

/**
 * Returns a fault when the file exists and is unusable, because changed tools would otherwise pass
 * as new ones.
 */
export function checkConfirmedTools(path: string): string | undefined {
  let text: string;
  try {
    text = readFileSync(path, "utf8");
  } catch (cause) {
    const isFirst = isMissingFile(cause);
    return isFirst ? undefined : `${path}: cannot be read`;
  }
  return parseShapes(text) === undefined ? `${path}: is not a list of tools` : undefined;
}
