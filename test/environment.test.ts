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
  // The relay names a default beside the variable, the agent server in one word at the end of its sentence.
  const lines = help.matchAll(
    /^ *(?<name>[A-Z][A-Z0-9]*_?[A-Z0-9_]+)\b(?: \(default (?<value>.*)\)$| +.* \((?<word>[^() ]+)\)$)?/gm,
  );
  return [...lines].map(({ groups }) => ({
    name: groups?.["name"] ?? "",
    value: groups?.["value"] ?? groups?.["word"],
  }));
}

describe.each([
  { main: "apps/relay/src/main.ts", minCount: 25, minDefaults: 35 },
  { main: "apps/agent-server/src/main.ts", minCount: 15, minDefaults: 10 },
])("The environment of $main", ({ main, minCount, minDefaults }) => {
  const variables = listVariables(main);

  it("the environment of a program is listed in its help", () => {
    expect(variables.length).toBeGreaterThan(minCount);
    expect(variables.filter(({ value }) => value !== undefined).length).toBeGreaterThanOrEqual(
      minDefaults,
    );
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
