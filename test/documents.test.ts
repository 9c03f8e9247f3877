import { existsSync, globSync, readFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { errors } from "@agent/wire";
import { describe, expect, it } from "vitest";

const root = new URL("..", import.meta.url).pathname;
const documents = globSync(
  ["*.md", "docs/*.md", "packages/*/README.md", "apps/*/README.md", "vectors/README.md"],
  { cwd: root },
);

/** Lists the targets of a document's relative links and the paths that it mentions. */
function listPaths(document: string): string[] {
  const text = readFileSync(join(root, document), "utf8");
  const links = [...text.matchAll(/\]\((?!https?:)([^)#]+)(#[^)]*)?\)/g)];
  const named = [...text.matchAll(/`((?:packages|apps|docs|test|examples|vectors)\/[\w./-]+)`/g)];
  return [
    ...links.map((match) => join(dirname(document), match[1] ?? "")),
    ...named.map((match) => match[1] ?? ""),
  ];
}

/** Lists the link fragments of a document's headings. */
function listFragments(document: string): string[] {
  const headings = readFileSync(join(root, document), "utf8").matchAll(/^#+ (.*)$/gm);
  return [...headings].map(([, heading = ""]) =>
    heading
      .toLowerCase()
      .replaceAll(/[^\w\s-]/g, "")
      .replaceAll(" ", "-"),
  );
}

describe.each(documents)("%s", (document) => {
  it("the document names only paths that exist", () => {
    const built = /\/dist\/|^apps\/demo\/output\//;
    const text = readFileSync(join(root, document), "utf8");
    const missing = listPaths(document)
      .filter((place) => !built.test(place) && !existsSync(join(root, place)))
      // A guide marks the files that its reader creates.
      .filter((place) => !text.includes(`<!-- file: ${place} -->`));
    expect(missing).toEqual([]);
  });

  it("the document links only to headings that exist", () => {
    const text = readFileSync(join(root, document), "utf8");
    const dead = [...text.matchAll(/\]\((?!https?:)([^)#]*)#([^)]*)\)/g)].filter(
      ([, file = "", fragment = ""]) => {
        const target = file === "" ? document : join(dirname(document), file);
        return !listFragments(target).includes(fragment);
      },
    );
    expect(dead.map(([link]) => link)).toEqual([]);
  });
});

it("the README of the vectors states how many cases each file has", () => {
  const rows = readFileSync(join(root, "vectors/README.md"), "utf8").matchAll(
    /^\| (\S+\.(?:jsonl|csv)|federation\.json) \| (\d[\d +]*) \|/gm,
  );
  const stated = [...rows].map(([, file = "", count]) => [file, count] as const);
  expect(stated.length).toBeGreaterThan(12);
  const counted = stated.map(([file]) => {
    const text = readFileSync(join(root, "vectors", file), "utf8");
    if (!file.endsWith(".json")) return [file, String(text.trimEnd().split("\n").length)] as const;
    const { requests, refused } = JSON.parse(text) as { requests: object[]; refused: object[] };
    return [file, `${requests.length} + ${refused.length}`] as const;
  });
  expect(stated).toEqual(counted);
});

/** Lists the refusals that a text names with a status: in a sentence, or in a table with a column of statuses. */
function listStatuses(text: string): (readonly [code: string, status: number])[] {
  const code = "`([a-z_]+\\.[a-z_]+)`";
  const before = [...text.matchAll(new RegExp(`\\b([45]\\d\\d) ${code}`, "g"))];
  const after = [...text.matchAll(new RegExp(`${code}(?: \\(|, )([45]\\d\\d)\\)`, "g"))];
  const rows = [...text.matchAll(/^\| ([^|]*) \| ([45]\d\d) +\|/gm)].flatMap(
    ([, cell = "", status]) =>
      [...cell.matchAll(new RegExp(code, "g"))].map(
        ([, name = ""]) => [name, Number(status)] as const,
      ),
  );
  return [
    ...before.map(([, status, name = ""]) => [name, Number(status)] as const),
    ...after.map(([, name = "", status]) => [name, Number(status)] as const),
    ...rows,
  ];
}

it("the statuses of refusals are found in sentences and tables", () => {
  const text =
    "403 `a.one`, `b.two` (404), or `c.three`, 409)\n| `d.four`, `e.five` | 503    | why |\n";
  expect(listStatuses(text)).toEqual([
    ["a.one", 403],
    ["b.two", 404],
    ["c.three", 409],
    ["d.four", 503],
    ["e.five", 503],
  ]);
});

it("every refusal that a document names with a status has this status in the contract", () => {
  const named = documents.flatMap((document) =>
    listStatuses(readFileSync(join(root, document), "utf8")),
  );
  expect(named.length).toBeGreaterThan(50);
  const statuses: Readonly<Record<string, { readonly status: number }>> = {
    ...errors,
    // The first is a refusal of agent servers; the second is `request.invalid` in the answer of a relay.
    "auth.lookup_unavailable": { status: 503 },
    "federation.malformed": { status: 400 },
  };
  expect(named.filter(([code, status]) => statuses[code]?.status !== status)).toEqual([]);
});

it("the newest section about upgrading names the version of the packages as its start or its end", () => {
  const manifest = readFileSync(join(root, "apps/relay/package.json"), "utf8");
  const { version } = JSON.parse(manifest) as { version: string };
  const text = readFileSync(join(root, "docs/upgrading.md"), "utf8");
  const [, ...versions] = /^## From ([\d.]+) to ([\d.]+)$/m.exec(text) ?? [];
  expect(versions).toContain(version);
});

it("every block that creates the first token of a relay keeps it on this machine", () => {
  const blocks = documents.flatMap((document) =>
    [...readFileSync(join(root, document), "utf8").matchAll(/^```sh\n(.*?)^```$/gms)]
      .map(([, block = ""]) => ({ document, block }))
      .filter(({ block }) => block.includes("AGENT_API_TOKEN=$(openssl")),
  );
  expect(blocks.length).toBeGreaterThan(2);
  const open = blocks.filter(({ block }) => !block.includes("AGENT_HOST=127.0.0.1"));
  expect(open.map(({ document }) => document)).toEqual([]);
});

describe.each(["CONTRIBUTING.md", "docs/architecture.md"])("Every place in %s", (document) => {
  const text = readFileSync(join(root, document), "utf8");
  const files = globSync(["*", "{packages,apps,bench,docs,examples,test,vectors}/**"], {
    cwd: root,
    exclude: (path) => /^(node_modules|dist)$/.test(path),
  }).map((path) => `/${path}`);
  const ends = new Set(files.flatMap(listEnds));

  it("every file or folder that the table names is the end of a path of this repository", () => {
    const named = [...text.matchAll(/(?<![\w./:<>*@-])\w[\w./-]*(?:\.ts|\w\/)(?![\w./<>*{-])/g)];
    const missing = named
      .map(([path]) => path.replace(/\/$/, ""))
      .filter((path) => !ends.has(path) && !/(^|\/)dist$/.test(path));
    expect(named.length).toBeGreaterThan(20);
    expect(missing).toEqual([]);
  });
});

/** Lists `c`, `b/c` and `a/b/c` for the path `/a/b/c`. */
function listEnds(path: string): string[] {
  return [...path.matchAll(/\//g)].map(({ index }) => path.slice(index + 1));
}
