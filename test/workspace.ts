import { globSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { readTokens, type Tokens } from "./read-tokens.ts";

/** A source file in the form that the rules read. */
export interface Source extends Tokens {
  /** The path relative to its package, with forward slashes. */
  readonly path: string;
  /** The text without comments, with the same line numbers. */
  readonly code: string;
  readonly imports: readonly string[];
  /** Tests and their fixtures are never published. */
  readonly isTest: boolean;
}

export interface Package {
  readonly name: string;
  /** The folder relative to the root of the repository. */
  readonly folder: string;
  readonly dependencies: readonly string[];
  readonly devDependencies: readonly string[];
  /** The specifiers that others may import; `aliases` are the `#names` by which it imports its own files. */
  readonly exports: readonly string[];
  readonly aliases: readonly string[];
  /** Absent if the package is only run or bundled from its sources. */
  readonly tsconfig:
    | { readonly extends: string; readonly references: readonly string[] }
    | undefined;
  readonly sources: readonly Source[];
}

const root = new URL("..", import.meta.url).pathname;

export function readWorkspace(): Package[] {
  return globSync(["{packages,apps}/*/package.json", "{bench,examples,test}/package.json"], {
    cwd: root,
  }).map((manifest) => readPackage(manifest.replace(/\/package\.json$/, "")));
}

function readPackage(folder: string): Package {
  const read = (path: string) => readFileSync(join(root, folder, path), "utf8");
  const manifest = JSON.parse(read("package.json")) as Manifest;
  const [hasProject] = globSync("tsconfig.json", { cwd: join(root, folder) });
  const paths = globSync("**/*.{ts,tsx}", {
    cwd: join(root, folder),
    exclude: (path) => /^(node_modules|dist)$/.test(path),
  });
  return {
    name: manifest.name,
    folder,
    dependencies: Object.keys(manifest.dependencies ?? {}),
    devDependencies: Object.keys(manifest.devDependencies ?? {}),
    exports: Object.keys(manifest.exports ?? {}).map((key) => join(manifest.name, key)),
    aliases: Object.keys(manifest.imports ?? {}),
    tsconfig: hasProject === undefined ? undefined : projectOf(folder, read(hasProject)),
    sources: paths.map((path) => sourceOf(path, read(path))),
  };
}

function projectOf(folder: string, text: string): Package["tsconfig"] {
  const project = JSON.parse(text) as {
    extends: string;
    compilerOptions?: { noEmit?: boolean };
    references?: { path: string }[];
  };
  // A package that is only type-checked is built by another tool, from the sources of others.
  if (project.compilerOptions?.noEmit === true) return undefined;
  // A package may have a second project for its Node-only files.
  const references = (project.references ?? []).map(({ path }) =>
    join(folder, path).replace(/\/tsconfig\.\w+\.json$/, ""),
  );
  return { extends: project.extends, references };
}

/** Relies on the formatter: an import statement begins its line. */
export function sourceOf(path: string, text: string): Source {
  const code = text.replace(
    stringOrComment,
    (found, quoted?: string) => quoted ?? found.replaceAll(/[^\n]/g, ""),
  );
  const imports = [...code.matchAll(importing)].map((match) => match[1] ?? match[2] ?? "");
  const isTest = /\.test\.ts$|(^|\/)test(ing)?\//.test(path);
  return { path, code, imports, isTest, ...readTokens(text) };
}

const stringOrComment =
  /("(?:\\.|[^"\\\n])*"|'(?:\\.|[^'\\\n])*'|`(?:\\.|[^`\\])*`)|\/\/.*|\/\*[\s\S]*?\*\//g;

const importing = /^(?:import|export)\b(?:[^"'`;]*\bfrom)?\s*"([^"]+)";|\bimport\("([^"$]+)"\)/gm;

interface Manifest {
  readonly name: string;
  readonly dependencies?: Record<string, string>;
  readonly devDependencies?: Record<string, string>;
  readonly exports?: Record<string, unknown>;
  readonly imports?: Record<string, unknown>;
}
