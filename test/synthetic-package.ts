import { sourceOf, type Package } from "./workspace.ts";

interface Parts extends Partial<Package> {
  /** The text of each source, by its path in the package. */
  readonly files?: Readonly<Record<string, string>>;
}

/** Builds a package that violates no rule except through the given parts. */
export function buildPackage(name: string, { files = {}, ...rest }: Parts = {}): Package {
  return {
    name,
    folder: name.replace("@agent", "packages"),
    dependencies: [],
    devDependencies: [],
    exports: [name],
    aliases: [],
    tsconfig: { extends: "../../tsconfig.pure.json", references: [] },
    sources: Object.entries(files).map(([path, text]) => sourceOf(path, text)),
    ...rest,
  };
}
