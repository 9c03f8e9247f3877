import { existsSync, globSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { publint } from "publint";
import { describe, expect, it } from "vitest";

const root = new URL("..", import.meta.url).pathname;
const published = globSync("{packages,apps}/*/package.json", { cwd: root })
  .map((path) => join(root, path, ".."))
  .filter((folder) => {
    const manifest = readFileSync(join(folder, "package.json"), "utf8");
    return (JSON.parse(manifest) as { private?: boolean }).private !== true;
  });
const isBuilt = published.every((folder) => existsSync(join(folder, "dist")));
if (!isBuilt) console.warn("SKIPPED: not every package is built, run pnpm build");

describe.each(published.map((folder) => [folder.slice(root.length), folder]))("%s", (_, folder) => {
  it("the package is published with a README", () => {
    expect(existsSync(join(folder, "README.md"))).toBe(true);
  });

  it.skipIf(!isBuilt)(
    "the package can be imported by every tool according to publint",
    async () => {
      const { messages } = await publint({ pkgDir: folder, strict: true, pack: false });
      expect(messages).toEqual([]);
    },
  );
});
