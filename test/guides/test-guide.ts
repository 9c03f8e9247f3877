import { spawnSync } from "node:child_process";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { openGuideShell, type GuideShell } from "./guide-shell.ts";
import { buildOutputPattern, parseGuide, type GuideBlock } from "./parse-guide.ts";

const root = new URL("../..", import.meta.url).pathname;

/** The parts of a guide's test that the guide itself does not contain. */
export interface GuideOptions {
  /** Prepares what a reader of the guide has already. */
  readonly prepare?: (shell: GuideShell) => Promise<void>;
  /** Take the blocks with the note `client`, by its value. */
  readonly clients?: Readonly<Record<string, (block: string, shell: GuideShell) => Promise<void>>>;
}

/**
 * Runs every block of a guide in the order of the page, as a reader would, and compares the output with
 * what the page shows. A block that would be skipped fails.
 */
export function testGuide(name: string, options: GuideOptions = {}): void {
  const document = readFileSync(join(root, "docs", name), "utf8");
  const blocks = parseGuide(document);

  describe(`docs/${name}`, { timeout: 120_000 }, () => {
    let shell: GuideShell;
    beforeAll(async () => {
      shell = openGuideShell();
      await options.prepare?.(shell);
    }, 60_000);
    afterAll(() => shell.close());

    it.for(blocks)("works as written at line $line", async (block, context) => {
      const { needs } = block.notes;
      if (needs !== undefined && !isInstalled(needs)) {
        console.warn(`NOT EXECUTED: line ${block.line} of docs/${name}, ${needs} is not installed`);
        return context.skip();
      }
      await follow(block);
    });

    async function follow({ language, text, notes, output, line }: GuideBlock): Promise<void> {
      const { file, client, server, stop } = notes;
      if (stop !== undefined) await shell.stop(stop);
      if (client !== undefined) {
        const take = options.clients?.[client];
        if (take === undefined) throw new Error(`the test has no client "${client}"`);
        return take(shell.adapt(text), shell);
      }
      if (file !== undefined) {
        // A reader must be told the name as well.
        expect(document.split("\n").slice(0, line).join("\n")).toContain(`\`${file}\``);
        return shell.writeFile(file, text);
      }
      if (language !== "sh") throw new Error(`a block of ${language} needs a note "file"`);
      if (server !== undefined) return shell.start(server, text);
      const printed = await shell.run(text, Number(notes["exit code"] ?? 0));
      if (output !== undefined) expect(printed).toMatch(buildOutputPattern(shell.adapt(output)));
    }
  });
}

function isInstalled(program: string): boolean {
  return spawnSync(program, ["--version"], { stdio: "ignore" }).status === 0;
}
