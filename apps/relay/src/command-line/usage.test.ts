import { parseUsage } from "@agent/command-line";
import { describe, expect, test } from "vitest";
import { commands } from "../database-commands.ts";
import { operatorOptions } from "./operator-command.ts";
import { operatorCommands } from "./operator-commands.ts";

describe("the usage of every command", () => {
  const all = Object.entries({ ...operatorCommands, ...commands });
  const forms = all.flatMap(([name, { usage }]) =>
    parseUsage(usage).map((form) => ({ name, ...form })),
  );

  test.each(forms)("$words begins with the name of its command", ({ name, words }) => {
    expect(words[0]).toBe(name);
  });

  test("the usage of the operator's commands states each option, and no other", () => {
    const stated = Object.values(operatorCommands).flatMap(({ usage }) =>
      parseUsage(usage).flatMap(({ options }) => options),
    );
    const known: Readonly<Record<string, { readonly type: string }>> = operatorOptions;
    for (const { name, hasValue } of stated) {
      expect({ name, type: known[name]?.type }).toEqual({
        name,
        type: hasValue ? "string" : "boolean",
      });
    }
    const unstated = Object.keys(known).filter((name) =>
      stated.every((each) => each.name !== name),
    );
    expect(unstated).toEqual(["relay", "token-file", "json"]);
  });
});
