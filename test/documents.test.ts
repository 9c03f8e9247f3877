import { existsSync, globSync, readFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { describe, expect, it } from "vitest";

const root = new URL("..", import.meta.url).pathname;
const documents = globSync(["*.md", "docs/*.md", "packages/*/README.md", "apps/*/README.md"], {
  cwd: root,
});

/** Where the relative links of a document lead, and the places of the repository that it names. */
function placesIn(document: string): string[] {
  const text = readFileSync(join(root, document), "utf8");
  const links = [...text.matchAll(/\]\((?!https?:)([^)#]+)(#[^)]*)?\)/g)];
  const named = [...text.matchAll(/`((?:packages|apps|docs|test|examples|vectors)\/[\w./-]+)`/g)];
  return [
    ...links.map((match) => join(dirname(document), match[1] ?? "")),
    ...named.map((match) => match[1] ?? ""),
  ];
}

/** The headings of a document as the fragments that lead to them. */
function fragmentsOf(document: string): string[] {
  const headings = readFileSync(join(root, document), "utf8").matchAll(/^#+ (.*)$/gm);
  return [...headings].map(([, heading = ""]) =>
    heading
      .toLowerCase()
      .replaceAll(/[^\w\s-]/g, "")
      .replaceAll(" ", "-"),
  );
}

describe.each(documents)("%s", (document) => {
  it("names only what is there", () => {
    const built = /\/dist\/|^apps\/demo\/output\//;
    const missing = placesIn(document).filter(
      (place) => !built.test(place) && !existsSync(join(root, place)),
    );
    expect(missing).toEqual([]);
  });

  it("links to headings that are there", () => {
    const text = readFileSync(join(root, document), "utf8");
    const dead = [...text.matchAll(/\]\((?!https?:)([^)#]*)#([^)]*)\)/g)].filter(
      ([, file = "", fragment = ""]) => {
        const target = file === "" ? document : join(dirname(document), file);
        return !fragmentsOf(target).includes(fragment);
      },
    );
    expect(dead.map(([link]) => link)).toEqual([]);
  });
});
