import { execFileSync } from "node:child_process";
import { readFileSync } from "node:fs";
import { describe, expect, it } from "vitest";

const root = new URL("..", import.meta.url).pathname;
const read = (path: string) => readFileSync(root + path, "utf8");

/** Lists the variables that the help of a program describes, with their defaults. */
function listVariables(main: string) {
  const help = execFileSync(
    process.execPath,
    ["--conditions=agent-source", root + main, "--help"],
    {
      encoding: "utf8",
    },
  );
  const lines = help.matchAll(
    /^ *(?<name>[A-Z][A-Z0-9]*_?[A-Z0-9_]+)\b(?: \(default (?<value>.*)\))?/gm,
  );
  return [...lines].map(({ groups }) => ({
    name: groups?.["name"] ?? "",
    value: groups?.["value"],
  }));
}

describe.each([
  { main: "apps/relay/src/main.ts", minCount: 25 },
  { main: "apps/agent-server/src/main.ts", minCount: 15 },
])("The environment of $main", ({ main, minCount }) => {
  const variables = listVariables(main);

  it("the environment of a program is listed in its help", () => {
    expect(variables.length).toBeGreaterThan(minCount);
  });

  it.each(variables)(
    "$name is documented in .env.example and docs/deployment.md",
    ({ name, value = "" }) => {
      expect(read(".env.example")).toMatch(new RegExp(`^(# )?${name}=`, "m"));
      expect(read("docs/deployment.md")).toContain(`| \`${name}\``);
      if (value === "") return;
      expect(read(".env.example")).toContain(`# ${name}=${value}\n`);
      expect(read("docs/deployment.md").replaceAll(/ +/g, " ")).toContain(
        `| \`${name}\` | \`${value}\` |`,
      );
    },
  );
});
