import { resolve } from "node:path";
import { fileURLToPath } from "node:url";
import { parseArgs } from "node:util";
import { runDemo, type DemoSettings } from "./demo.ts";
import { runToCompletion } from "./run-to-completion.ts";

const TIME_LIMIT_MS = 60_000;
const repositoryRoot = fileURLToPath(new URL("../../../", import.meta.url));

/** `pnpm demo [FILE] [--output FOLDER]`, both as seen from the root of the repository. */
function parseSettings(): DemoSettings {
  const { values, positionals } = parseArgs({
    allowPositionals: true,
    options: { output: { type: "string", default: "apps/demo/output" } },
  });
  const [text = "README.md"] = positionals;
  return {
    textPath: resolve(repositoryRoot, text),
    outputDir: resolve(repositoryRoot, values.output),
  };
}

// What was interrupted may still wait for something.
process.exit(
  await runToCompletion(TIME_LIMIT_MS, async (surroundings) =>
    runDemo({ ...parseSettings(), ...surroundings }),
  ),
);
