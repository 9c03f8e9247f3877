/** The text of each built file, by its path below the folder of the pages. */
export type PageFiles = ReadonlyMap<string, string>;

const PAGE_LINK = /(?:src|href)="(?:\.\/|\.\.\/)+([^"]+)"/g;
/** Finds the files that a script needs before it runs; the files of `import(...)` are needed later. */
const STATIC_IMPORT = /(?:^|[;}\s])(?:import|export)(?:[^'"();]*\bfrom)?\s*["']\.\/([^"']+)["']/g;

/**
 * Lists the files that a page loads before it shows anything: the page itself, the files that it names, and the
 * files that their scripts import. `later` contains prefixes of the names of scripts that are loaded
 * afterwards; these are listed with their imports and styles.
 */
export function listPageFiles(
  files: PageFiles,
  page: string,
  later: readonly string[] = [],
): string[] {
  const found = new Set<string>();
  const add = (path: string): void => {
    if (found.has(path)) return;
    const text = files.get(path);
    if (text === undefined) throw new Error(`${path} is not built`);
    found.add(path);
    const folder = path.slice(0, path.lastIndexOf("/") + 1);
    if (path.endsWith(".html"))
      for (const [, link = ""] of text.matchAll(PAGE_LINK)) add(rootOf(link));
    if (path.endsWith(".js"))
      for (const [, name = ""] of text.matchAll(STATIC_IMPORT)) add(folder + name);
  };
  add(page);
  for (const name of later) {
    const paths = [...files.keys()].filter((path) => path.includes(`/${name}-`));
    if (paths.length === 0) throw new Error(`${name} is not built`);
    for (const path of paths) add(path);
  }
  return [...found].toSorted();
}

/** Pages use relative links to their files, which are all below `console/`. */
const rootOf = (link: string) => (link.startsWith("console/") ? link : `console/${link}`);
