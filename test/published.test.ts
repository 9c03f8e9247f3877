import { existsSync, globSync, readFileSync } from "node:fs";
import { dirname, join } from "node:path";
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

interface Manifest {
  readonly dependencies?: Readonly<Record<string, string>>;
  readonly exports: Readonly<Record<string, string | { readonly types: string }>>;
}

const readManifest = (folder: string) =>
  JSON.parse(readFileSync(join(folder, "package.json"), "utf8")) as Manifest;

/** Lists the packages that the types of a package mention, by following its declarations from its exports. */
function listPackagesInTypes(folder: string): string[] {
  const entries = Object.values(readManifest(folder).exports).flatMap((target) =>
    typeof target === "string" ? [] : [join(folder, target.types)],
  );
  const files = new Set(entries);
  const packages = new Set<string>();
  // A set is walked up to the members that are added on the way.
  for (const file of files) {
    const text = readFileSync(file, "utf8");
    for (const [, name = ""] of text.matchAll(/(?:from|import|import\() ?"([^"]+)"/g)) {
      if (name.startsWith(".")) files.add(join(dirname(file), name.replace(/\.[jt]s$/, ".d.ts")));
      else if (!name.startsWith("node:") && !name.startsWith("#"))
        packages.add(/^(?:@[^/]+\/)?[^/]+/.exec(name)?.[0] ?? name);
    }
  }
  return [...packages];
}

/** Whether a project that installs the package also gets the types of the other one. */
function hasTypesOf(name: string, folder: string): boolean {
  const { dependencies = {} } = readManifest(folder);
  if (!Object.hasOwn(dependencies, name)) return false;
  if (Object.hasOwn(dependencies, `@types/${name}`)) return true;
  return globSync("**/*.d.{ts,mts,cts}", { cwd: join(folder, "node_modules", name) }).length > 0;
}

describe.each(published.map((folder) => [folder.slice(root.length), folder]))("%s", (_, folder) => {
  it("the package is published with a README", () => {
    expect(existsSync(join(folder, "README.md"))).toBe(true);
  });

  it.skipIf(!isBuilt)("the package's types mention only packages whose types come with it", () => {
    const mentioned = listPackagesInTypes(folder);
    expect(mentioned.filter((name) => !hasTypesOf(name, folder))).toEqual([]);
  });

  it.skipIf(!isBuilt)(
    "the package can be imported by every tool according to publint",
    async () => {
      const { messages } = await publint({ pkgDir: folder, strict: true, pack: false });
      expect(messages).toEqual([]);
    },
  );
});
