import { resolve } from "node:path";
import { fileURLToPath } from "node:url";
import { parseArgs } from "node:util";
import { runDemo, type Settings } from "./demo.ts";
import { runToEnd } from "./run-to-end.ts";

const limitMs = 60_000;
const root = fileURLToPath(new URL("../../../", import.meta.url));

/** `pnpm demo [FILE] [--output FOLDER]`, both as seen from the root of the repository. */
function readSettings(): Settings {
  const { values, positionals } = parseArgs({
    allowPositionals: true,
    options: { output: { type: "string", default: "apps/demo/output" } },
  });
  const [text = "README.md"] = positionals;
  return { textPath: resolve(root, text), outputDir: resolve(root, values.output) };
}

// What was interrupted may still wait for something.
process.exit(
  await runToEnd(limitMs, async (surroundings) => runDemo({ ...readSettings(), ...surroundings })),
);
