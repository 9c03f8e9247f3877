import { spawnSync } from "node:child_process";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { openGuideShell, type GuideShell } from "./guide-shell.ts";
import { buildOutputPattern, parseGuide, type GuideBlock } from "./parse-guide.ts";

const root = new URL("../..", import.meta.url).pathname;

/** Executes a block and returns the text that it showed. Throws if the block does not work. */
export type GuideClient = (block: string, shell: GuideShell) => Promise<string>;

/** The parts of a guide's test that are not in the guide. */
export interface GuideOptions {
  /** Prepares what a reader of the guide already has. */
  readonly prepare?: (shell: GuideShell) => Promise<void>;
  /** Execute the blocks with the note `client`, by the value of the note. */
  readonly clients?: Readonly<Record<string, GuideClient>>;
}

/**
 * Runs every block of a guide in order, as a reader would, and compares the output with the one on the page. A
 * block that cannot be run fails the test.
 */
export function testGuide(name: string, options: GuideOptions = {}): void {
  const blocks = parseGuide(readFileSync(join(root, "docs", name), "utf8"));

  describe(`docs/${name}`, { timeout: 120_000 }, () => {
    let shell: GuideShell;
    beforeAll(async () => {
      shell = openGuideShell();
      await options.prepare?.(shell);
    }, 60_000);
    afterAll(() => shell.close());

    it.for(blocks)("the block at line $line works as written", async (block, { skip }) => {
      const { needs = "sh" } = block.notes;
      skip(!isInstalled(needs), `docs/${name}: ${needs} is not installed`);
      const { notes, output = "" } = block;
      if (notes.stop !== undefined) await shell.stop(notes.stop);
      const printed = await follow(block, shell, options);
      expect(output === "" ? "" : printed).toMatch(buildOutputPattern(shell.adapt(output)));
    });
  });
}

/** Follows a block as a reader would; returns the text that was printed. */
async function follow(
  { language, text, notes, line }: GuideBlock,
  shell: GuideShell,
  { clients = {} }: GuideOptions,
): Promise<string> {
  const { file, client, server } = notes;
  if (client !== undefined) {
    const take = clients[client];
    if (take === undefined) throw new Error(`line ${line}: there is no client "${client}"`);
    return take(shell.adapt(text), shell);
  }
  if (file !== undefined) {
    shell.writeFile(file, text);
    return "";
  }
  if (language !== "sh")
    throw new Error(`line ${line}: a block of ${language} needs a note "file"`);
  if (server === undefined) return shell.run(text, Number(notes["exit code"] ?? 0));
  await shell.start(server, text);
  return "";
}

function isInstalled(program: string): boolean {
  return spawnSync("sh", ["-c", `command -v ${program}`], { stdio: "ignore" }).status === 0;
}
