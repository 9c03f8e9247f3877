import { resolve } from "node:path";
import { fileURLToPath } from "node:url";
import { parseOptions } from "@agent/command-line";
import { runDemo, type DemoSettings } from "./demo.ts";
import { runToCompletion } from "./run-to-completion.ts";

const TIME_LIMIT_MS = 60_000;
const repositoryRoot = fileURLToPath(new URL("../../../", import.meta.url));

/** Parses `pnpm demo [FILE] [--output FOLDER]`, both relative to the root of the repository. */
function parseSettings(): DemoSettings {
  const parsed = parseOptions(process.argv.slice(2), {
    output: { type: "string", default: "apps/demo/output" },
  });
  if (!parsed.ok) throw new Error(parsed.message);
  const { values, positionals } = parsed;
  const [text = "README.md"] = positionals;
  return {
    textPath: resolve(repositoryRoot, text),
    outputDir: resolve(repositoryRoot, values.output),
  };
}

// An interrupted demo may still have pending timers or requests.
process.exit(
  await runToCompletion(TIME_LIMIT_MS, async (context) =>
    runDemo({ ...parseSettings(), ...context }),
  ),
);
