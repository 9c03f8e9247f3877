import { parseUsage } from "@agent/command-line";
import { describe, expect, test } from "vitest";
import { formatCommandUsage, SHARED_OPTIONS } from "./usage/command-usage.ts";
import { flagOptions, parseFlags } from "./parse-flags.ts";
import { readConfig } from "./config.ts";
import { defaultPolicy } from "../policy/policy-check.ts";

function read(given: { file?: unknown; env?: Record<string, string>; args?: string[] }) {
  const { flags } = parseFlags(given.args ?? []);
  return readConfig({
    ...(given.file !== undefined && {
      file: {
        path: "/etc/agent/config.json",
        text: typeof given.file === "string" ? given.file : JSON.stringify(given.file),
      },
    }),
    env: given.env ?? {},
    flags,
    workingDirectory: "/home/agent",
  });
}

function configOf(given: Parameters<typeof read>[0]) {
  const result = read(given);
  if (!result.ok) throw new Error(result.faults.join("; "));
  return result.config;
}

function faultsOf(given: Parameters<typeof read>[0]): readonly string[] {
  const result = read(given);
  return result.ok ? [] : result.faults;
}

const auth = { AGENT_AUTH_TOKEN: "secret" };

describe("the source of a setting", () => {
  test("settings default to those of the specification", () => {
    const config = configOf({ env: auth });
    expect(config).toMatchObject({ taskTimeoutMs: 300_000, logLevel: "info" });
    expect(config.server).toMatchObject({ transport: "http", host: "127.0.0.1", port: 3100 });
    expect(config.policy).toEqual(defaultPolicy);
  });

  test("a flag overrides the file, the environment overrides both", () => {
    const file = { port: 1, host: "::1", transport: "http" };
    const args = ["--port", "2", "--host", "127.0.0.2"];
    const config = configOf({ file, args, env: { ...auth, AGENT_PORT: "3" } });
    expect(config.server).toMatchObject({ port: 3, host: "127.0.0.2" });
    expect(configOf({ file, args, env: auth }).server.port).toBe(2);
    expect(configOf({ file, env: auth }).server.port).toBe(1);
  });

  test("AGENT_SYNC_URL sets relay.url, AGENT_PUBLIC_URL sets publicUrl", () => {
    const env = { AGENT_SYNC_URL: "http://relay:3000", AGENT_PUBLIC_URL: "https://agent.example" };
    const config = configOf({
      file: { relay: { url: "http://other" }, publicUrl: "http://x" },
      env,
    });
    expect(config.relay?.url).toBe("http://relay:3000");
    expect(config.server.publicUrl).toBe("https://agent.example");
  });

  test("the registration token is AGENT_SYNC_TOKEN, else AGENT_API_TOKEN", () => {
    const env = { AGENT_SYNC_URL: "http://relay", AGENT_API_TOKEN: "api" };
    expect(configOf({ env }).relay?.registrationToken).toBe("api");
    const both = { ...env, AGENT_SYNC_TOKEN: "sync" };
    expect(configOf({ env: both }).relay?.registrationToken).toBe("sync");
  });

  test.each(["AGENT_API_TOKEN", "AGENT_SYNC_TOKEN"])(
    "D9: of two tokens in %s, one of which replaces the other, the first is used",
    (variable) => {
      const env = { AGENT_SYNC_URL: "http://relay", [variable]: " old , new" };
      expect(configOf({ env }).relay?.registrationToken).toBe("old");
    },
  );

  test.each([
    "AGENT_API_TOKEN",
    "AGENT_SYNC_TOKEN",
    "AGENT_LLM_API_KEY",
    "AGENT_EMBEDDINGS_API_KEY",
  ])(
    "a token in %s that no header can carry is refused by its name, and an ASCII one is accepted",
    (variable) => {
      const endpoints = {
        AGENT_SYNC_URL: "http://relay",
        AGENT_LLM_BASE_URL: "http://model",
        AGENT_LLM_MODEL: "m",
        AGENT_EMBEDDINGS_BASE_URL: "http://model",
        AGENT_EMBEDDINGS_MODEL: "m",
      };
      for (const token of ["a\u2014b", "a\u00e9", "a b", "a\nb"]) {
        const faults = faultsOf({ env: { ...endpoints, [variable]: token } });
        expect(faults).toEqual([
          expect.stringMatching(/: must be printable ASCII without blanks$/),
        ]);
        expect(faults[0]).toContain(variable);
        expect(faults[0]).not.toContain(token);
      }
      expect(faultsOf({ env: { ...endpoints, [variable]: "sk-1_2.3" } })).toEqual([]);
    },
  );

  test.each(["http://x", "a b", "localhost:80", "[::1]", "10.0.0.0/8"])(
    "%s is no address to listen on, and is refused by the name of its variable",
    (AGENT_HOST) => {
      expect(faultsOf({ env: { AGENT_AUTH_TOKEN: "secret", AGENT_HOST } })).toEqual([
        "AGENT_HOST: must be an IP address or a host name without scheme and port",
      ]);
    },
  );

  test.each(["0.0.0.0", "::", "::1", "localhost", "agent-1.example.org", "my_host"])(
    "%s is an address to listen on",
    (AGENT_HOST) => {
      expect(configOf({ env: { AGENT_AUTH_TOKEN: "secret", AGENT_HOST } }).server.host).toBe(
        AGENT_HOST,
      );
    },
  );

  test("a self-test that the operator pays for needs both the flag of the test and the operator's token", () => {
    const env = { AGENT_SYNC_URL: "http://relay" };
    const paid = ["--self-test", "--paid-by-operator"];
    expect(faultsOf({ env, args: paid })).toEqual([
      "--paid-by-operator: requires the operator's token (AGENT_API_TOKEN)",
    ]);
    const withToken = { ...env, AGENT_API_TOKEN: "api" };
    expect(faultsOf({ env: withToken, args: ["--paid-by-operator"] })).toEqual([
      "--paid-by-operator: requires --self-test",
    ]);
    expect(configOf({ env: withToken, args: paid })).toMatchObject({ paidByOperator: true });
  });

  test.each([
    ["pair", ["pair"]],
    ["unpair", ["unpair", "device"]],
    ["rotate-key", ["rotate-key"]],
    ["contest", ["contest", "task", "reason"]],
  ])(
    "the command %s needs a relay, but no settings that protect a listening server",
    (name, args) => {
      expect(faultsOf({ args })).toEqual([`${name}: requires a relay (AGENT_SYNC_URL)`]);
      expect(faultsOf({ args, env: { AGENT_SYNC_URL: "http://relay" } })).toEqual([]);
      expect(faultsOf({ args: ["confirm-tools"] })).toEqual([]);
      expect(faultsOf({})).toHaveLength(1);
    },
  );

  test.each([
    ["rotate-key", ["rotate-key", "it was stolen"]],
    ["confirm-tools", ["confirm-tools"]],
    ["contest", ["contest", "task", "reason"]],
    ["pair", ["pair"]],
    ["unpair", ["unpair", "device"]],
  ])("OP18: the command %s is refused with an option that it does not use", (command, args) => {
    for (const flag of ["--check-config", "--self-test", "--direct", "--port=1", "--host=::1"]) {
      const name = flag.replace(/=.*/, "");
      expect(parseFlags([...args, flag]).faults).toEqual([
        `agent-server ${command} takes no ${name}, but agent-server does`,
      ]);
      expect(parseFlags([flag]).faults).toEqual([]);
    }
    expect(parseFlags([...args, "--config", "a.json"]).faults).toEqual([]);
  });

  test("OP18: an option is accepted twice only if both values count", () => {
    expect(parseFlags(["--port=1", "--port=2"]).faults).toEqual(["--port is given twice"]);
    expect(parseFlags(["--tools", "a", "--tools", "b"])).toMatchObject({
      faults: [],
      flags: { tools: ["a", "b"] },
    });
  });

  test("the usage states each option, and no other", () => {
    const stated = parseUsage(formatCommandUsage()).flatMap(({ options }) => options);
    const names = new Set([...stated.map(({ name }) => name), ...SHARED_OPTIONS]);
    expect([...names].toSorted()).toEqual(Object.keys(flagOptions).toSorted());
    for (const { name, hasValue } of stated) {
      expect([name, flagOptions[name as keyof typeof flagOptions].type]).toEqual([
        name,
        hasValue ? "string" : "boolean",
      ]);
    }
  });

  test("the command rotate-key takes at most a reason", () => {
    expect(parseFlags(["rotate-key"])).toMatchObject({
      faults: [],
      flags: { rotateKey: { reason: undefined } },
    });
    const reasoned = parseFlags(["rotate-key", "it was stolen", "--config", "a.json"]);
    expect(reasoned).toMatchObject({
      faults: [],
      flags: { rotateKey: { reason: "it was stolen" }, config: "a.json" },
    });
    expect(parseFlags(["rotate-key", "it", "was stolen"]).faults).toHaveLength(1);
    expect(parseFlags(["list"]).flags.rotateKey).toBeUndefined();
  });

  test("a blank variable counts as unset", () => {
    expect(configOf({ env: { ...auth, AGENT_PORT: " ", AGENT_PASSPHRASE: "" } })).toMatchObject({
      server: { port: 3100 },
      identity: { passphrase: undefined },
    });
  });

  test("a passphrase keeps its leading and trailing blanks", () => {
    const { identity } = configOf({ env: { ...auth, AGENT_PASSPHRASE: " two words " } });
    expect(identity.passphrase).toBe(" two words ");
  });

  test("a path in the file is relative to its folder, one in the environment to the working folder", () => {
    expect(configOf({ file: { tools: "tools.mjs", dataDir: "data" }, env: auth })).toMatchObject({
      tools: ["/etc/agent/tools.mjs"],
      identity: { dataDir: "/etc/agent/data" },
    });
    const env = { ...auth, AGENT_TOOLS: "a.mjs, b.mjs", AGENT_DATA_DIR: "data" };
    expect(configOf({ env })).toMatchObject({
      tools: ["/home/agent/a.mjs", "/home/agent/b.mjs"],
      identity: { dataDir: "/home/agent/data" },
    });
  });
});

describe("trusted proxies", () => {
  const proxiesOf = (given: Parameters<typeof read>[0]) => configOf(given).server.trustedProxies;

  test("E11: trusted proxies are named by the environment or the file, and none is by default", () => {
    const ranges = ["10.0.0.0/8", "::1"];
    const env = { ...auth, AGENT_TRUSTED_PROXIES: "10.0.0.0/8 , ::1" };
    expect(proxiesOf({ env: auth })).toEqual([]);
    expect(proxiesOf({ env: { ...auth, AGENT_TRUSTED_PROXIES: " " } })).toEqual([]);
    expect(proxiesOf({ env, file: { trustedProxies: ["192.0.2.1"] } })).toEqual(ranges);
    expect(proxiesOf({ env: auth, file: { trustedProxies: ranges } })).toEqual(ranges);
  });

  // The variable of a relay refuses the same.
  test.each(["10.0.0.0/33", "10.0.0", "proxy", "::1/129", "10.0.0.1,,"])(
    "E11: %s is refused as a list of trusted proxies",
    (text) => {
      const rule = "must be IP addresses or CIDR ranges, separated by commas";
      expect(faultsOf({ env: { ...auth, AGENT_TRUSTED_PROXIES: text } })).toEqual([
        `AGENT_TRUSTED_PROXIES: ${rule}`,
      ]);
      expect(faultsOf({ env: auth, file: { trustedProxies: text.split(",") } })).toEqual([
        `config trustedProxies: ${rule}`,
      ]);
    },
  );

  test("E11: a list of trusted proxies has texts only", () => {
    expect(faultsOf({ env: auth, file: { trustedProxies: [7] } })).toEqual([
      expect.stringContaining("config trustedProxies"),
    ]);
  });
});

describe("the audit log", () => {
  const key = { AGENT_PRIVATE_KEY_HEX: "00".repeat(32) };

  test.each<[string, Parameters<typeof read>[0], string | undefined]>([
    ["is a file in the data folder by default", { env: auth }, "/home/agent/.agent/audit.jsonl"],
    [
      "is the file that the environment names",
      { env: { ...auth, AGENT_AUDIT_LOG: "a" } },
      "/home/agent/a",
    ],
    [
      "is relative to the configuration file",
      { env: auth, file: { auditLog: "a" } },
      "/etc/agent/a",
    ],
    [
      "goes to the ordinary log when the setting is -",
      { env: auth, file: { auditLog: "-" } },
      undefined,
    ],
    ["goes to the ordinary log without a data folder", { env: { ...auth, ...key } }, undefined],
  ])("the audit log %s", (_, given, path) => {
    expect(configOf(given).auditLog).toBe(path);
  });
});

const agentId = "01890000-0000-7000-8000-000000000001";
const otherId = "01890000-0000-7000-8000-000000000002";
const approver = { agent_id: agentId, public_key: "0".repeat(64) };

describe("a faulty configuration", () => {
  test.each([
    [{ port: 65_536 }, "config port: must be a whole number from 0 to 65535"],
    [{ port: "3100" }, "config port: must be a whole number from 0 to 65535"],
    [{ monitorIntervalMs: 999 }, "config monitorIntervalMs: must be 0, or at least 1000"],
    [{ taskTimeoutMs: 0.5 }, "config taskTimeoutMs: must be a whole number from 1 to 86400000"],
    [{ publicUrl: "ftp://x" }, "config publicUrl: must be an http or https URL"],
    [{ publicUrl: "http://u:p@x" }, "config publicUrl: must be an http or https URL"],
    [{ relay: { url: "relay" } }, "config relay.url: must be an http or https URL"],
    [{ authToken: "two words" }, "config authToken: must be printable ASCII"],
    [{ authToken: "agent:x" }, 'config authToken: must not begin with "agent:"'],
    [{ logLevel: "verbose" }, "config logLevel: must be one of: debug, info, warn, error"],
    [{ transport: "pipe" }, 'config transport: must be "http" or "stdio"'],
    [{ policy: { deny_above: 5 } }, "config policy.deny_above: must be a whole number from 0 to 4"],
    [{ policy: { deny_above: 1 } }, "config policy: must have max_risk_auto <="],
    [{ policy: { allow: "x" } }, "config policy.allow: must be a list of tool names"],
    [{ policy: { deny: [""] } }, "config policy.deny.0: must not be empty"],
    [
      { policy: { quorum: { approvers: [agentId] } } },
      "config policy.quorum.approvers.0: must be {agent_id, public_key}",
    ],
    [
      { policy: { quorum: { approvers: [{ ...approver, public_key: "x" }] } } },
      "config policy.quorum.approvers.0.public_key: must be {agent_id, public_key}",
    ],
    [
      { policy: { quorum: { approvers: [] } } },
      "config policy.quorum.approvers: must be a list of 1",
    ],
    [
      {
        policy: { quorum: { approvers: [approver, { ...approver, public_key: "1".repeat(64) }] } },
      },
      "config policy.quorum.approvers: must",
    ],
    [
      { policy: { quorum: { approvers: [approver, { ...approver, agent_id: otherId }] } } },
      "config policy.quorum.approvers: must",
    ],
    [
      { policy: { quorum: { approvers: [approver], required: 2 } } },
      "must not require more agents",
    ],
    [{ policy: { quorum: { approvers: [approver] } } }, "config policy.quorum: requires a relay"],
    [{ policy: { quorum: {} } }, "config policy.quorum.approvers: is required"],
    [{ mcpServers: [] }, "config mcpServers: must be an object of servers"],
    [
      { mcpServers: { x: {} } },
      "config mcpServers.x: must be {command, args, env} or {url, headers}",
    ],
    [{ mcpServers: { x: { command: "a", url: "http://b" } } }, "config mcpServers.x: must be"],
    [{ mcpServers: { x: { command: "a", args: "b" } } }, "config mcpServers.x: must be"],
    [
      { mcpServers: { x: { url: "file:///b" } } },
      "config mcpServers.x.url: must be an http or https",
    ],
    [{ knownAgents: 7 }, "config knownAgents: "],
    [{ listing: {} }, "config listing.capabilities: is required"],
    [{ listing: { capabilities: "x" } }, "config listing.capabilities: must be array"],
    [{ listing: { capabilities: [], pricing: [{ capability: "x", unit_cost: -1 }] } }, "unit_cost"],
    [{ colour: "red" }, "config colour: is not a known setting"],
    [{ policy: { denyAbove: 1 } }, "config policy.denyAbove: is not a known setting"],
    [{ llm: { url: "http://x" } }, "config llm.url: is not a known setting"],
    [{ relay: "http://relay" }, 'config relay: must be an object such as {"url": ...}'],
    [{ listing: { capabilities: [], price: 5 } }, "config listing.price: is not a known setting"],
    [{ agent_type: "robot" }, 'config agent_type: must be "service" or "personal"'],
    [{ allowedHosts: ["http://x"] }, "config allowedHosts.0: must be a host name"],
    [{ allowedHosts: ["agent.example:443"] }, "config allowedHosts.0: must be a host name"],
    [
      '{\n  "name": "x"\n  "port": 1\n}',
      "/etc/agent/config.json: is not valid JSON (line 3, column 3: comma expected)",
    ],
    ["{", "/etc/agent/config.json: is not valid JSON"],
    ["[]", "/etc/agent/config.json: must hold a JSON object"],
  ])("the faulty configuration %j stops the start", (file, fault) => {
    const faults = faultsOf({ file, args: ["--allow-anonymous"] });
    expect(faults).toHaveLength(1);
    expect(faults[0]).toContain(fault);
  });

  test("all faults are reported at once, each with its source", () => {
    const faults = faultsOf({
      file: { name: 7 },
      args: ["--transport", "pipe"],
      env: { AGENT_PORT: "x", LOG_LEVEL: "loud" },
    });
    expect(new Set(faults.map((fault) => fault.split(":")[0]))).toEqual(
      new Set(["--transport", "AGENT_PORT", "LOG_LEVEL", "authToken", "config name"]),
    );
  });

  test("each of several unknown settings is reported once", () => {
    const file = { colour: 1, "a.b": 2, port: -1, policy: { loose: 1, strict: 2 } };
    expect(faultsOf({ file, env: auth }).toSorted()).toEqual([
      "config a.b: is not a known setting",
      "config colour: is not a known setting",
      "config policy.loose: is not a known setting",
      "config policy.strict: is not a known setting",
      "config port: must be a whole number from 0 to 65535",
    ]);
  });

  test("a private key from the environment is checked before the start, without quoting it", () => {
    const env = { ...auth, AGENT_PRIVATE_KEY_HEX: "zz" };
    expect(faultsOf({ env })).toEqual([
      "AGENT_PRIVATE_KEY_HEX: holds no private key (64 or 128 hex digits, or a sealed key)",
    ]);
  });

  test("faults quote no value of a setting", () => {
    const env = { AGENT_AUTH_TOKEN: "my secret", AGENT_SYNC_URL: "http://me:secret@relay" };
    expect(faultsOf({ env }).join()).not.toContain("secret");
  });

  test.each(["--unknown", "stray", "--port", "--direct=yes"])(
    "the argument %s is a fault",
    (argument) => {
      expect(parseFlags([argument]).faults).toHaveLength(1);
    },
  );
});

describe("HTTP is never open on a network", () => {
  test.each<[string, Parameters<typeof read>[0], string | undefined]>([
    ["without a token is refused", {}, "authToken"],
    ["with a token is accepted", { env: auth }, undefined],
    ["with known agents is accepted", { env: { AGENT_KNOWN_AGENTS: "agents.json" } }, undefined],
    [
      "with a relay, whose signed tokens count, is accepted",
      { env: { AGENT_SYNC_URL: "http://r" } },
      undefined,
    ],
    ["--allow-anonymous on loopback", { args: ["--allow-anonymous"] }, undefined],
    [
      "--allow-anonymous on a network",
      { args: ["--allow-anonymous", "--host", "0.0.0.0"] },
      "--allow-anonymous",
    ],
    [
      "--allow-anonymous on a network, with a token",
      { args: ["--allow-anonymous", "--host", "10.0.0.1"], env: auth },
      "--allow-anonymous",
    ],
    ["over stdio without a token is accepted", { args: ["--transport", "stdio"] }, undefined],
    ["--self-test without a relay", { args: ["--self-test"], env: auth }, "--self-test"],
  ])("HTTP is never open on a network: a server %s", (_, given, fault) => {
    expect(faultsOf(given).map((text) => text.split(":")[0])).toEqual(
      fault === undefined ? [] : [fault],
    );
  });
});
