import { execFile } from "node:child_process";
import {
  cpSync,
  existsSync,
  globSync,
  readFileSync,
  realpathSync,
  rmSync,
  writeFileSync,
} from "node:fs";
import { basename, delimiter, dirname, join } from "node:path";
import { promisify } from "node:util";

const root = new URL("..", import.meta.url).pathname;

// The Node.js of this run comes first, because the system's version may be older than the packages require.
const env = {
  ...process.env,
  PATH: `${dirname(process.execPath)}${delimiter}${process.env["PATH"] ?? ""}`,
};

export interface CommandEnd {
  readonly exitCode: number;
  /** Both output streams if the command failed, otherwise standard output. */
  readonly stdout: string;
}

/** Runs a command to its end; a failure is returned as an exit code. */
export async function runCommand(
  command: string,
  args: readonly string[],
  options: { readonly cwd: string; readonly env?: Readonly<Record<string, string>> },
): Promise<CommandEnd> {
  try {
    const given = { cwd: options.cwd, env: { ...env, ...options.env } };
    const { stdout } = await promisify(execFile)(command, args, given);
    return { exitCode: 0, stdout };
  } catch (error) {
    const { code, stdout, stderr } = error as { code: unknown; stdout: string; stderr: string };
    if (typeof code !== "number") throw error;
    return { exitCode: code, stdout: stdout + stderr };
  }
}

/** Runs a step of the preparation, which must succeed. */
async function runOrThrow(command: string, args: readonly string[], cwd: string): Promise<void> {
  const { exitCode, stdout } = await runCommand(command, args, { cwd });
  if (exitCode !== 0) throw new Error(`${command} ${args.join(" ")}: ${stdout}`);
}

/** The pnpm that runs the tests, or otherwise one that npm fetches. */
const runningPnpm = process.env["npm_execpath"] ?? "";
const pnpm = runningPnpm.endsWith("pnpm") ? [runningPnpm] : ["npx", "-y", "pnpm@12"];

/** A package to pack with all its dependencies, and the projects that build it. */
export interface PackedPackage {
  readonly name: string;
  readonly folder: string;
  readonly projects: readonly string[];
}

/**
 * Packs packages of this workspace with all their dependencies, and installs the tarballs in an empty folder
 * with npm, without a registry. Returns the names of the workspace's tarballs.
 */
export async function installPacked(
  folder: string,
  packages: readonly PackedPackage[],
): Promise<string[]> {
  const projects = packages.flatMap((each) => each.projects);
  await runOrThrow(join(root, "node_modules/.bin/tsc"), ["-b", ...projects], root);
  const [program = "", ...first] = pnpm;
  const to = ["--pack-destination", folder];
  const filters = packages.map(({ name }) => `--filter-prod=${name}...`);
  await runOrThrow(program, [...first, "-r", ...filters, "pack", ...to], root);
  const own = globSync("*.tgz", { cwd: folder });
  const others = collectDependencies(packages.map((each) => realpathSync(join(root, each.folder))));
  for (const each of others) await packInstalled(each, folder);
  const [main, second] = splitVersions(others);
  const overrides = buildOverrides(second);
  writeFileSync(join(folder, "package.json"), JSON.stringify({ overrides }));
  const tarballs = [...own, ...main.map(toTarball)].map((name) => `./${name}`);
  const quiet = ["--offline", "--no-audit", "--no-fund", "--ignore-scripts"];
  await runOrThrow("npm", ["install", ...quiet, ...tarballs], folder);
  return own;
}

interface Manifest {
  readonly name: string;
  readonly version: string;
  readonly dependencies?: Readonly<Record<string, string>>;
  readonly engines?: { readonly node?: string };
}

/** A package from outside the workspace, and the names of the packages that depend on it. */
interface Dependency extends Manifest {
  readonly folder: string;
  readonly dependents: Set<string>;
}

/** Returns the name that npm gives a tarball. */
const toTarball = ({ name, version }: Manifest) =>
  `${name.replace("@", "").replace("/", "-")}-${version}.tgz`;

/**
 * Packs an installed package as it is. `npm pack` is not used, because it ends without a result on large
 * packages: its exit handler is never called.
 */
async function packInstalled(each: Dependency, folder: string): Promise<void> {
  const staging = join(folder, "staging");
  cpSync(each.folder, join(staging, "package"), {
    recursive: true,
    filter: (path) => basename(path) !== "node_modules",
  });
  await runOrThrow("tar", ["-czf", toTarball(each), "-C", staging, "package"], folder);
  rmSync(staging, { recursive: true });
}

const isOwn = (name: string) => name.startsWith("@agent/");

/** Collects all external packages on which the packages in these folders depend, directly or indirectly. */
export function collectDependencies(start: readonly string[]): Dependency[] {
  const found = new Map<string, Dependency>();
  const left = start.map((folder) => ({ folder, dependent: "" }));
  for (let next = left.pop(); next !== undefined; next = left.pop()) {
    const { folder, dependent } = next;
    const known = found.get(folder);
    if (known !== undefined) {
      known.dependents.add(dependent);
      continue;
    }
    const text = readFileSync(join(folder, "package.json"), "utf8");
    const manifest = JSON.parse(text) as Manifest;
    found.set(folder, { ...manifest, folder, dependents: new Set([dependent]) });
    for (const name of Object.keys(manifest.dependencies ?? {})) {
      left.push({ folder: findPackage(folder, name), dependent: manifest.name });
    }
  }
  return [...found.values()].filter(({ name }) => !isOwn(name));
}

/** Separates further versions of a package, which npm must install below the packages that need them. */
function splitVersions(all: readonly Dependency[]): [Dependency[], Dependency[]] {
  const isMain = (each: Dependency) => {
    const versions = all.filter(({ name }) => name === each.name);
    const direct = versions.find(({ dependents }) => [...dependents].some(isOwn));
    return each === (direct ?? versions[0]);
  };
  return [all.filter(isMain), all.filter((each) => !isMain(each))];
}

function buildOverrides(second: readonly Dependency[]): object {
  const entries = second.flatMap((each) =>
    [...each.dependents].map((dependent) => [
      dependent,
      { [each.name]: `file:./${toTarball(each)}` },
    ]),
  );
  return Object.fromEntries(entries) as object;
}

/** Finds the folder of a dependency as Node.js does: in this folder, or in one above. */
function findPackage(from: string, name: string): string {
  for (let folder = from; ; folder = dirname(folder)) {
    const path = join(folder, "node_modules", name);
    if (existsSync(path)) return realpathSync(path);
    if (folder === dirname(folder)) throw new Error(`${name} is not installed for ${from}`);
  }
}
