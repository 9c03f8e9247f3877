import { existsSync, globSync, readFileSync, realpathSync } from "node:fs";
import { dirname, join } from "node:path";
import { publint } from "publint";
import { describe, expect, it } from "vitest";
import { collectDependencies } from "./install-packed.ts";

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
  readonly engines: { readonly node: string };
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

/**
 * Returns whether a range of versions, of which each alternative names the oldest one or a major version,
 * contains a version.
 */
function isVersionInRange(version: string, range: string): boolean {
  const toNumbers = (text: string) => text.split(".").map(Number);
  const [major = 0, minor = 0, patch = 0] = toNumbers(version);
  return range.split("||").some((alternative) => {
    const [, sign, oldest = ""] =
      /^\s*(>=|\^|~)?\s*v?([\d.]+?)(?:\.x)*\s*$/.exec(alternative) ?? [];
    const [otherMajor = 0, otherMinor = 0, otherPatch = 0] = toNumbers(oldest);
    if (oldest === "" || (sign !== ">=" && major !== otherMajor)) return false;
    return (major - otherMajor || minor - otherMinor || patch - otherPatch) >= 0;
  });
}

it.each([
  ["22.19.0", ">=22.19.0", true],
  ["22.18.0", ">=22.19.0", false],
  ["22.18.0", "^20.17.0 || >=22.9.0", true],
  ["22.18.0", "^16 || ^18 || >= 21", true],
  ["22.18.0", "^20.17.0", false],
  ["22.18.0", ">=24", false],
  ["22.18.0", ">= 10.x", true],
])("whether version %s is in the range %s is answered with %s", (version, range, expected) => {
  expect(isVersionInRange(version, range)).toBe(expected);
});

describe.each(published.map((folder) => [folder.slice(root.length), folder]))("%s", (_, folder) => {
  it("the package is published with a README", () => {
    expect(existsSync(join(folder, "README.md"))).toBe(true);
  });

  it("everything that is installed with the package runs on the oldest Node.js that it names", () => {
    const oldest = `${readManifest(folder).engines.node.replace(">=", "")}.0`;
    const tooNew = collectDependencies([realpathSync(folder)])
      .filter(({ engines }) => !isVersionInRange(oldest, engines?.node ?? ">=0"))
      .map(({ name, engines }) => `${name} needs Node.js ${engines?.node}`);
    expect(tooNew).toEqual([]);
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
