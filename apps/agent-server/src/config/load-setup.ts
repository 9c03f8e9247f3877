import { readFileSync } from "node:fs";
import { resolve } from "node:path";
import { parseKnownAgents, type KnownAgents } from "../http/authentication/known-agents.ts";
import { loadToolsModule } from "../tools/load-module.ts";
import type { RegisteredTool } from "../tools/registry.ts";
import { readConfig, type Config, type ConfigInput } from "./config.ts";
import { findToolCollisions } from "./find-tool-collisions.ts";
import type { Flags } from "./parse-flags.ts";

/** The configuration and the contents of the files that it names. */
export interface Setup {
  readonly config: Config;
  readonly tools: readonly RegisteredTool[];
  readonly knownAgents: KnownAgents;
}

/** The parts of the process that the configuration depends on. */
export interface LaunchContext {
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly workingDirectory: string;
  /** Prints a note that does not stop the start. */
  readonly printNote: (line: string) => void;
}

type Faults = { readonly ok: false; readonly faults: readonly string[] };

/** Loads the configuration and the files that it names; reports all faults at once. */
export async function loadSetup(
  flags: Flags,
  launch: LaunchContext,
): Promise<({ readonly ok: true } & Setup) | Faults> {
  const input = loadConfigInput(flags, launch);
  if (!input.ok) return input;
  const read = readConfig(input.input);
  if (!read.ok) return read;
  const modules = await Promise.all(read.config.tools.map(loadToolsModule));
  const knownAgents = loadKnownAgents(read.config.knownAgents);
  const faults = [...modules, knownAgents].flatMap((file) => (file.ok ? [] : file.faults));
  if (faults.length > 0) return { ok: false, faults };
  const tools = modules.flatMap((module) => (module.ok ? module.tools : []));
  const skipped = modules.flatMap((module) => (module.ok ? module.skipped : []));
  for (const line of skipped) launch.printNote(line);
  const collisions = findToolCollisions(read.config, tools);
  if (collisions.length > 0) return { ok: false, faults: collisions };
  return {
    ok: true,
    config: read.config,
    tools,
    knownAgents: knownAgents.ok ? knownAgents.agents : new Map(),
  };
}

function loadKnownAgents(path: string | undefined): ReturnType<typeof parseKnownAgents> {
  if (path === undefined) return { ok: true, agents: new Map() };
  try {
    return parseKnownAgents(readFileSync(path, "utf8"), path);
  } catch {
    return { ok: false, faults: [`${path}: cannot be read`] };
  }
}

function loadConfigInput(
  flags: Flags,
  { env, workingDirectory }: LaunchContext,
): { readonly ok: true; readonly input: ConfigInput } | Faults {
  const input = { env, flags, workingDirectory };
  if (flags.config === undefined) return { ok: true, input };
  const path = resolve(workingDirectory, flags.config);
  try {
    return { ok: true, input: { ...input, file: { path, text: readFileSync(path, "utf8") } } };
  } catch {
    return { ok: false, faults: [`--config: ${path} cannot be read`] };
  }
}
