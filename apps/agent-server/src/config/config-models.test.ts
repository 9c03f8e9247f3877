import { describe, expect, test } from "vitest";
import { parseFlags } from "./parse-flags.ts";
import { readConfig } from "./config.ts";

function read(file: object, env: Record<string, string> = {}, args: string[] = []) {
  return readConfig({
    file: { path: "/etc/agent/config.json", text: JSON.stringify({ authToken: "t", ...file }) },
    env,
    flags: parseFlags(args).flags,
    workingDirectory: "/home/agent",
  });
}

function configOf(...given: Parameters<typeof read>) {
  const result = read(...given);
  if (!result.ok) throw new Error(result.faults.join("; "));
  return result.config;
}

describe("models", () => {
  test("no model is configured by default, and memories stay in memory", () => {
    expect(configOf({})).toMatchObject({
      direct: false,
      llm: undefined,
      memory: { path: ":memory:", embeddings: undefined },
    });
  });

  test("models are read from the file and their keys from the environment only", () => {
    const file = {
      llm: { baseUrl: "https://models.example/v1/", model: "m1" },
      embeddings: { baseUrl: "http://127.0.0.1:8080/v1", model: "e1" },
    };
    const { llm, memory } = configOf(file, { AGENT_LLM_API_KEY: "key-1" });
    expect(llm).toEqual({ baseUrl: "https://models.example/v1", model: "m1", apiKey: "key-1" });
    expect(memory.embeddings).toEqual({ baseUrl: "http://127.0.0.1:8080/v1", model: "e1" });
    expect(read({ llm: { ...file.llm, apiKey: "key-1" } })).toMatchObject({ ok: false });
  });

  test("models of the environment take precedence over those of the file", () => {
    const file = { llm: { baseUrl: "https://models.example/v1", model: "m1" } };
    expect(configOf(file, { AGENT_LLM_MODEL: "m2" }).llm?.model).toBe("m2");
    const env = { AGENT_EMBEDDINGS_BASE_URL: "http://e/v1", AGENT_EMBEDDINGS_MODEL: "e2" };
    expect(configOf({}, env).memory.embeddings?.model).toBe("e2");
  });

  test.each<[Record<string, string>, RegExp]>([
    [{ AGENT_LLM_BASE_URL: "http://m/v1" }, /AGENT_LLM_MODEL/],
    [{ AGENT_LLM_MODEL: "m1" }, /AGENT_LLM_BASE_URL/],
    [{ AGENT_LLM_BASE_URL: "ftp://m", AGENT_LLM_MODEL: "m1" }, /^AGENT_LLM_BASE_URL: /],
    [{ AGENT_LLM_BASE_URL: "http://u:p@m/v1", AGENT_LLM_MODEL: "m1" }, /^AGENT_LLM_BASE_URL: /],
    [{ AGENT_EMBEDDINGS_MODEL: "e1" }, /AGENT_EMBEDDINGS_BASE_URL/],
  ])("the settings %j are a fault that names the setting and quotes no value", (env, fault) => {
    const result = read({}, env);
    expect(result.ok ? [] : result.faults).toHaveLength(1);
    expect(result.ok ? "" : result.faults[0]).toMatch(fault);
    expect(result.ok ? "" : result.faults[0]).not.toContain("u:p");
  });

  test("the flag --direct is parsed", () => {
    expect(configOf({}, {}, ["--direct"]).direct).toBe(true);
  });
});

describe("memory.path", () => {
  test.each<[string, object, Record<string, string>]>([
    ["/etc/agent/memory.db", { memory: { path: "memory.db" } }, {}],
    ["/home/agent/memory.db", {}, { AGENT_MEMORY_PATH: "memory.db" }],
    [":memory:", { memory: { path: ":memory:" } }, {}],
    [":memory:", { memory: { path: "memory.db" } }, { AGENT_MEMORY_PATH: ":memory:" }],
  ])("the setting memory.path is %s for %j and %j", (expected, file, env) => {
    expect(configOf(file, env).memory.path).toBe(expected);
  });

  test("an empty memory.path is a fault", () => {
    expect(read({ memory: { path: "" } })).toMatchObject({ ok: false });
  });
});
