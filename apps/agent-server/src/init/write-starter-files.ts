import { formatError } from "@agent/crypto";
import { existsSync } from "node:fs";
import { mkdir, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { configTemplate } from "./config-template.ts";
import { toolsTemplate } from "./tools-template.ts";

export type WriteStarterResult =
  | { readonly ok: true; readonly config: string; readonly tools: string }
  | { readonly ok: false; readonly faults: readonly string[] };

/** Writes a configuration and a tools module into a folder without overwriting files. */
export async function writeStarterFiles(folder: string): Promise<WriteStarterResult> {
  const config = join(folder, "agent.config.jsonc");
  const tools = join(folder, "tools.mjs");
  const faults = [config, tools]
    .filter((path) => existsSync(path))
    .map((path) => `init: ${path} already exists`);
  if (faults.length > 0) return { ok: false, faults };
  try {
    await mkdir(folder, { recursive: true });
    await writeFile(tools, toolsTemplate, { flag: "wx" });
    // The file is private because it may hold a token later.
    await writeFile(config, configTemplate, { flag: "wx", mode: 0o600 });
  } catch (cause) {
    return {
      ok: false,
      faults: [`init: ${formatError(cause)}`],
    };
  }
  return { ok: true, config, tools };
}
