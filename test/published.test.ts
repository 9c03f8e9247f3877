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

/** Lists the packages that the types of a package mention, by following declarations from the package's exports. */
function listPackagesInTypes(folder: string): string[] {
  const entries = Object.values(readManifest(folder).exports).flatMap((target) =>
    typeof target === "string" ? [] : [join(folder, target.types)],
  );
  const files = new Set(entries);
  const packages = new Set<string>();
  // Iterating over a set includes the members that are added meanwhile.
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

/** Finds the declaration of a name in a file or in files that it re-exports; undefined if it is elsewhere. */
function findDeclaration(name: string, file: string): string | undefined {
  const text = readFileSync(file, "utf8");
  const kinds = "function|const|type|interface|class";
  const at = new RegExp(`export (declare )?(abstract )?(${kinds}) ${name}\\b`).exec(text)?.index;
  if (at !== undefined) return text.slice(0, at);
  for (const [, names = "", from = ""] of text.matchAll(
    /export (?:type )?\{([^}]*)\} from "([^"]+)"/g,
  )) {
    const pairs = names.split(",").map((each) =>
      each
        .trim()
        .replace(/^type /, "")
        .split(" as "),
    );
    const [own] = pairs.find((pair) => pair.at(-1) === name) ?? [];
    if (own === undefined || !from.startsWith(".")) continue;
    return findDeclaration(own, join(dirname(file), from.replace(/\.[jt]s$/, ".d.ts")));
  }
  return undefined;
}

/** Lists the names that an entry point exports without a docstring. */
function listUndocumented(folder: string): string[] {
  const entries = Object.values(readManifest(folder).exports).flatMap((target) =>
    typeof target === "string" ? [] : [join(folder, target.types)],
  );
  return entries.flatMap((entry) => {
    const lists = readFileSync(entry, "utf8").matchAll(/export (?:type )?\{([^}]*)\}/g);
    const names = [...lists].flatMap(([, list = ""]) => list.split(","));
    return names
      .map((each) => each.trim().split(/ /).at(-1) ?? "")
      .filter((name) => name !== "")
      .filter((name) => findDeclaration(name, entry)?.trimEnd().endsWith("*/") === false);
  });
}

/** Returns whether a project that installs the package also gets the types of the other one. */
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

  it.skipIf(!isBuilt)(
    "the types of the package mention only packages whose types are installed with it",
    () => {
      const mentioned = listPackagesInTypes(folder);
      expect(mentioned.filter((name) => !hasTypesOf(name, folder))).toEqual([]);
    },
  );

  // The schemas of `wire` are described in the OpenAPI document; the apps are used as commands.
  it.skipIf(!isBuilt || folder.endsWith("/wire") || folder.includes("/apps/"))(
    "the types of the package have a sentence about each exported name",
    () => {
      expect(listUndocumented(folder)).toEqual([]);
    },
  );

  it.skipIf(!isBuilt)(
    "the package can be imported by every tool according to publint",
    async () => {
      const { messages } = await publint({ pkgDir: folder, strict: true, pack: false });
      expect(messages).toEqual([]);
    },
  );
});
