import { execFileSync } from "node:child_process";
import { readFileSync } from "node:fs";
import { describe, expect, it } from "vitest";

const root = new URL("..", import.meta.url).pathname;
const read = (path: string) => readFileSync(root + path, "utf8");

/** The variables that a program's own help names, with their defaults where it says so. */
function variablesOf(main: string) {
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
  { main: "apps/relay/src/main.ts", least: 25 },
  { main: "apps/agent-server/src/main.ts", least: 15 },
])("the environment of $main", ({ main, least }) => {
  const variables = variablesOf(main);

  it("is read from the help", () => {
    expect(variables.length).toBeGreaterThan(least);
  });

  it.each(variables)("$name is in .env.example and docs/deployment.md", ({ name, value = "" }) => {
    expect(read(".env.example")).toMatch(new RegExp(`^(# )?${name}=`, "m"));
    expect(read("docs/deployment.md")).toContain(`| \`${name}\``);
    if (value === "") return;
    expect(read(".env.example")).toContain(`# ${name}=${value}\n`);
    expect(read("docs/deployment.md").replaceAll(/ +/g, " ")).toContain(
      `| \`${name}\` | \`${value}\` |`,
    );
  });
});
