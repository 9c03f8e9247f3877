import { canonicalize } from "@agent/crypto";
import type { Tool } from "@modelcontextprotocol/client";
import { readFileSync } from "node:fs";
import { dirname } from "node:path";
import * as v from "valibot";
import { freshFile } from "../fresh-file.ts";
import { parseJson } from "../model/parse-json.ts";
import { prepareFolder, writePrivately } from "../private-file.ts";
import type { Runtime } from "../runtime.ts";

/** What a model and a caller go by: the schemas, and the texts that tell them when to use the tool. */
export type ToolShape = Pick<
  Tool,
  "title" | "description" | "inputSchema" | "outputSchema" | "annotations"
>;

/** The tools of wrapped servers as their owner knows them. */
export interface ConfirmedTools {
  /** Undefined: never seen. */
  get(server: string, tool: string): ToolShape | undefined;
  /** Takes these as confirmed; kept in the file when it resolves, as far as the disk allows. */
  confirm(tools: readonly (readonly [server: string, tool: Tool])[]): Promise<void>;
}

const Shape = v.looseObject({ inputSchema: v.looseObject({ type: v.literal("object") }) });
const File = v.object({ tools: v.array(v.tuple([v.string(), v.string(), Shape])) });

type Shapes = ReadonlyMap<string, ToolShape>;

/** Without a path they are those of this process only. */
export function openConfirmedTools(
  path: string | undefined,
  runtime: Pick<Runtime, "log">,
): ConfirmedTools {
  let known: Shapes = new Map();
  const fresh =
    path !== undefined && freshFile({ path, initial: known, parse: parseShapes, runtime: quiet });
  const current = (): Shapes => (fresh === false ? known : fresh());

  async function keep(shapes: Shapes): Promise<void> {
    known = shapes;
    if (path === undefined) return;
    try {
      await prepareFolder(dirname(path));
      const tools = [...shapes].map(([name, shape]) => [...namesOf(name), shape]);
      await writePrivately(path, { tools });
    } catch (cause) {
      runtime.log("warn", "tools.not_kept", { cause: String(cause) });
    }
  }

  return {
    get: (server, tool) => current().get(nameOf(server, tool)) ?? known.get(nameOf(server, tool)),
    async confirm(tools) {
      const added = tools.map(
        ([server, tool]) => [nameOf(server, tool.name), shapeOf(tool)] as const,
      );
      if (added.length > 0) await keep(new Map([...known, ...current(), ...added]));
    },
  };
}

/** The first start has no file, which is nothing to warn of. */
const quiet = { log: () => {} };

export function shapeOf(tool: Tool): ToolShape {
  const { title, description, inputSchema, outputSchema, annotations } = tool;
  return {
    inputSchema,
    ...(title !== undefined && { title }),
    ...(description !== undefined && { description }),
    ...(outputSchema !== undefined && { outputSchema }),
    ...(annotations !== undefined && { annotations }),
  };
}

/** The members in which two shapes differ, as `name: before -> after`. */
export function differencesOf(before: ToolShape, after: ToolShape): string[] {
  const members = ["title", "description", "inputSchema", "outputSchema", "annotations"] as const;
  return members.flatMap((member) => {
    const [was, is] = [textOf(before[member]), textOf(after[member])];
    return was === is ? [] : [`${member}: ${was} -> ${is}`];
  });
}

/** Schemas of a server may hold what has no canonical form. */
function textOf(value: unknown): string {
  if (value === undefined) return "(none)";
  try {
    return canonicalize(value);
  } catch {
    return JSON.stringify(value);
  }
}

function parseShapes(text: string): Shapes | undefined {
  const parsed = v.safeParse(File, parseJson(text));
  if (!parsed.success) return undefined;
  return new Map(
    parsed.output.tools.map(([server, tool, shape]) => [nameOf(server, tool), shape as ToolShape]),
  );
}

/** No tool's name has a blank, so the last one parts the two. */
function nameOf(server: string, tool: string): string {
  return `${server} ${tool}`;
}

function namesOf(name: string): [string, string] {
  const at = name.lastIndexOf(" ");
  return [name.slice(0, at), name.slice(at + 1)];
}

/** Whether the file is there and cannot be used; a start must not take changed tools for new ones then. */
export function faultOfConfirmed(path: string): string | undefined {
  let text: string;
  try {
    text = readFileSync(path, "utf8");
  } catch (cause) {
    const isFirst = cause instanceof Error && "code" in cause && cause.code === "ENOENT";
    return isFirst ? undefined : `${path}: cannot be read`;
  }
  return parseShapes(text) === undefined ? `${path}: is not a list of tools` : undefined;
}
